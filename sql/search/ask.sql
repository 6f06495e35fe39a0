-- Whether only documents in allowed may answer, and how many answers are wanted.
--
-- in   $filtered  boolean
-- in   $wanted    integer
insert into asked values ($filtered, $wanted)
