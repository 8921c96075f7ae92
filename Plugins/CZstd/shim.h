#pragma once
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>
