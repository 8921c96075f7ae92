// Tests of the module take shape here.
