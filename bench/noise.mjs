// Gives each chunk of tobi/qmd's index a vector of noise. See noise.py.
//
//     node noise.mjs STORE_JS INDEX MODEL DIMENSIONS
const [store, index, model, width] = process.argv.slice(2);
const { createStore, chunkDocument, insertEmbedding } = await import(store);
const { db, ensureVecTable } = createStore(index);
const dimensions = Number(width);
ensureVecTable(dimensions);

function noise() {
  const vector = Float32Array.from({ length: dimensions }, () =>
    Math.random() + Math.random() + Math.random() + Math.random() - 2);
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

let made = 0;
const now = new Date().toISOString();
const texts = db.prepare("select hash, doc from content").all();
db.transaction(() => {
  for (const { hash, doc } of texts) {
    const chunks = chunkDocument(doc);
    made += chunks.length;
    chunks.forEach((chunk, seq) =>
      insertEmbedding(db, hash, seq, chunk.pos, noise(), model, now, chunks.length));
  }
})();
console.log(made);
