-- Whether this DuckDB sums inner products by fused multiply-add, which rounds once for each number.
--
-- (1 + 2^-12)^2 is 2^-24 more than the number that it is rounded to in 32 bits.
--
-- out  is_fused  boolean
select
    list_inner_product(
        [-1.00048828125, 1.000244140625]::float[], [1, 1.000244140625]::float[]
    ) <> 0 as is_fused
