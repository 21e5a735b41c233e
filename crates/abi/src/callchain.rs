//! The marker words inside call chains.

/// A word of a call chain that is no address but says which space the following addresses belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum CallchainContext {
    /// Hypervisor addresses follow.
    Hypervisor,
    /// Kernel addresses follow.
    Kernel,
    /// User addresses follow.
    User,
    /// The user part is delivered later; the next word is its cookie.
    UserDeferred,
    /// Guest addresses follow.
    Guest,
    /// Guest kernel addresses follow.
    GuestKernel,
    /// Guest user addresses follow.
    GuestUser,
    /// A marker this crate does not know.
    Unknown(u64),
}

impl CallchainContext {
    /// Words at or above this are markers.
    pub const MIN: u64 = -4095i64 as u64;

    /// The marker that `word` is, or `None` for an address.
    #[inline]
    pub fn from_word(word: u64) -> Option<CallchainContext> {
        // Nearly all words are addresses.
        if word < Self::MIN {
            return None;
        }
        Some(match word.cast_signed() {
            -32 => CallchainContext::Hypervisor,
            -128 => CallchainContext::Kernel,
            -512 => CallchainContext::User,
            -640 => CallchainContext::UserDeferred,
            -2048 => CallchainContext::Guest,
            -2176 => CallchainContext::GuestKernel,
            -2560 => CallchainContext::GuestUser,
            _ => CallchainContext::Unknown(word),
        })
    }
}
