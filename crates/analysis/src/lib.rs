//! Pure aggregation of samples: histograms and call trees.
