-- Let DuckDB order joins by the sizes that it expects.
reset disabled_optimizers
