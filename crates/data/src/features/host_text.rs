//! The features that are one string each: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, strings};
use crate::FeatureFault;

macro_rules! text_feature {
    ($($(#[$doc:meta])* $name:ident = $id:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub struct $name(pub String);

        impl Feature for $name {
            const ID: FeatureId = FeatureId::$id;

            fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<$name, FeatureFault> {
                strings::decode(cursor).map($name)
            }

            fn encode(&self, encoder: &mut Encoder) {
                strings::encode(encoder, &self.0);
            }
        }
    )*};
}

text_feature! {
    /// Name of the host.
    Hostname = HOSTNAME;
    /// Release of the kernel, as `uname -r` says.
    OsRelease = OSRELEASE;
    /// Version of the recorder.
    Version = VERSION;
    /// Machine type, as `uname -m` says.
    Arch = ARCH;
    /// The CPU's name.
    CpuDesc = CPUDESC;
    /// Maker, family, model and stepping, separated by commas; on other architectures what perf puts there.
    CpuId = CPUID;
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn texts_round_trip() {
        round_trip(&Hostname("vm".into()));
        round_trip(&CpuDesc(String::new()));
        round_trip(&CpuId("AuthenticAMD,25,17,1".into()));
    }
}
