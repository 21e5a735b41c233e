//! Work on several threads at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` for every item on `jobs` threads; the results keep the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        while let Some((index, item)) = take(items, &next) {
            let result = work(index, item);
            done.lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push((index, result));
        }
    };
    std::thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(worker))));
    let mut done = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, items.get(index)?))
}
