-- Note new times of files whose content is the same.
--
-- in   touched  relation  document_id, size, mtime_ns, inode, checksum, modified (microseconds)
update documents
set
    size = touched.size,
    mtime_ns = touched.mtime_ns,
    inode = touched.inode,
    checksum = touched.checksum,
    modified = make_timestamp(touched.modified)
from touched
where documents.document_id = touched.document_id
