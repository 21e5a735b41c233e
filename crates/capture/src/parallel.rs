//! Work on all cores as far as there are threads to be had: a recorder goes on where the process table is full.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of `work` for all items, in their order, by this many threads: `None` for one a core.
pub(crate) fn map<T: Sync, R: Send>(
    threads: Option<usize>,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let helpers = threads
        .unwrap_or_else(cores)
        .min(items.len())
        .saturating_sub(1);
    map_with(helpers, items, work)
}

/// With this many threads beside the caller's, or fewer.
fn map_with<T: Sync, R: Send>(
    helpers: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        items.get(index).map(|item| (index, work(item)))
    };
    let work_on = || std::iter::from_fn(take).collect::<Vec<_>>();
    let mut done = thread::scope(|scope| {
        let spawned: Vec<_> = (0..helpers)
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work_on).ok())
            .collect();
        let mut done = work_on();
        // What a helper's panic took with it is unsupported; there is none in what is done here.
        done.extend(
            spawned
                .into_iter()
                .filter_map(|helper| helper.join().ok())
                .flatten(),
        );
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_order_with_any_number_of_threads() {
        let items: Vec<u32> = (0..1000).collect();
        for helpers in [0, 1, 7] {
            assert!(
                map_with(helpers, &items, |item| item * 2)
                    .into_iter()
                    .eq((0..1000).map(|item| item * 2))
            );
        }
        assert!(map(None, &[] as &[u32], |item| *item).is_empty());
        assert_eq!(map(Some(0), &[1, 2], |item| item * 2), [2, 4]);
    }
}
