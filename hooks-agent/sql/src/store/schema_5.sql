-- Nothing was ever written to it.
DROP TABLE run;
