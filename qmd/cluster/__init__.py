"""Search over the shards of an index that one machine cannot hold, and their build.

A folder comes in, a manifest with shards goes out; operations on an open index read them as one.
Each shard is an ordinary index file. `statements` says how the rows of all shards become one
answer, with the figures of all documents, so that results equal those of one index. `ray_engine`
and `ray_build` alone import ray.
May import everything below `surfaces`.
"""
