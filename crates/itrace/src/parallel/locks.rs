//! Locks that are held for moments in which nothing can break.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks, even behind a panic.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits till something changed.
pub(super) fn wait<'m, T>(change: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    change.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
