// The module takes shape here.
