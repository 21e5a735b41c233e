//! The features that say something by being there: BRANCH_STACK and STAT.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

macro_rules! flag_feature {
    ($($(#[$doc:meta])* $name:ident = $id:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name;

        impl Feature for $name {
            const ID: FeatureId = FeatureId::$id;

            fn decode(_: &mut Cursor<'_>, _: &FeatureContext) -> Result<$name, FeatureFault> {
                Ok($name)
            }

            fn encode(&self, _: &mut Encoder) {}
        }
    )*};
}

flag_feature! {
    /// Samples hold branch stacks.
    BranchStack = BRANCH_STACK;
    /// The file holds counts of `perf stat record`, no samples.
    StatData = STAT;
}

#[cfg(test)]
mod tests {
    use super::super::testing::{little, round_trip};
    use super::*;

    #[test]
    fn flags_have_no_bytes() {
        round_trip(&StatData);
        assert!(little(&BranchStack).is_empty());
    }
}
