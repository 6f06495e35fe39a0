"""Summaries of all commands, for the help; `python -m tools.docs` writes this module.

With them the help lists the commands without loading any.
"""

# fmt: off

SUMMARIES: dict[str, str] = \
{'search': 'Find documents by keyword (BM25). Fast: no model is loaded.',
 'vsearch': 'Find documents by meaning: passages that say what you ask, in whatever words.',
 'query': 'Find documents by words and by meaning, the best of both first.',
 'passages': 'Collect the best passages for a question, up to a number of tokens.',
 'ask': 'Answer a question from the documents, by a model that you choose.',
 'similar': 'Find documents that are similar to another one.',
 'links': 'List the links from a document and to it.',
 'grep': 'Find lines that a regular expression matches, in the texts as they are indexed.',
 'sql': 'Ask in SQL: views of documents, links and vectors, with searches as functions. '
        'Read-only.',
 'open': 'Open the page of the index in the browser. A server is started if none runs.',
 'get': 'Show one document.',
 'multi-get': 'Show several documents.',
 'ls': 'List collections, or the files of one.',
 'facets': 'Count documents by tag, folder, kind of file or year.',
 'init': 'Give the current folder an index of its own, in .qmd/.',
 'put': 'Store a text as a document, without a file of your own.',
 'append': 'Append a text to a document, which is made if it is not there.',
 'edit': 'Replace a section or a passage of a document.',
 'move': 'Move a document to another path of its collection, or give it another title.',
 'remove': 'Remove a document that was stored with `put`.',
 'undo': 'Undo a write to documents: put, append, edit, move, remove, and undo itself.',
 'journal': 'List the writes to documents that can be undone, the last one first.',
 'update': 'Index what has changed.',
 'watch': 'Keep the index fresh while files change, until interrupted.',
 'embed': 'Give every document the vectors that search by meaning needs. Goes on where it '
          'stopped.',
 'status': 'Show what is indexed.',
 'doctor': 'Check the index, and say how to mend what is wrong.',
 'cleanup': 'Remove unused data, put the index in order, and make its file small.',
 'stats': 'Show facts about the documents: over time, sizes, collections, frequent terms.',
 'map': 'Draw a map of the documents by what they mean: each a point, near to what is like it.',
 'bench': 'Measure how good search is, over queries whose right answers are known.',
 'export': 'Write the index to a folder as Parquet; there again, only what has changed.',
 'import': 'Make an index of an export, with its vectors; nothing is embedded again.',
 'server': "Serve the index to agents, like 'qmd mcp'.",
 'help': 'Explain qmd, or one of its commands.',
 'version': 'Show the version of qmd.',
 'collection': 'Folders whose files are indexed.',
 'context': 'Texts that describe folders, shown with results.',
 'trust': "Approve the commands, outside folders, models and links of a project's index.yml.",
 'models': 'Show and fetch the models that qmd uses.',
 'cluster': 'Build and check an index in shards, which several machines can hold together.',
 'mcp': 'Serve the index to agents: MCP over stdin and stdout, or over HTTP.',
 'service': 'A service of yours that watches, embeds and serves the index after each login.',
 'skill': 'The skill that teaches an assistant to use qmd.',
 'experiences': 'Solved problems that agents have submitted.'}
