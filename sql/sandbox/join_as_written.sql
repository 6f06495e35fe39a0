-- Join tables in the order in which they are written: the right one is kept, the left one runs past.
set disabled_optimizers = 'join_order,build_side_probe_side'
