//! Every way in which the steps of a few threads can follow each other.
//!
//! For code that shares memory without locks. The code under test reaches what it shares through a trait; the test's
//! implementation calls [`Turn::step`] before each access, and one thread at a time goes on from there. Accesses are seen in
//! one order by all: what weaker orders of memory allow is not tried.

use std::sync::{Condvar, Mutex, PoisonError};

/// The work of one thread on the shared state.
pub type ThreadBody<'a, S> = &'a (dyn Fn(&S, &Turn<'_>) + Sync);

/// Runs `bodies` side by side on fresh states, once for each order of their steps, and looks at each state afterwards.
/// Says how many orders there were.
///
/// # Panics
/// A body or `check` does.
pub fn every_order<S: Sync>(
    make: impl Fn() -> S,
    bodies: &[ThreadBody<'_, S>],
    check: impl Fn(&S),
) -> usize {
    let (mut choices, mut orders) = (Vec::new(), 0);
    loop {
        let state = make();
        choices = run(&state, bodies, choices);
        check(&state);
        orders += 1;
        // The last choice that has an alternative left takes it, and what followed it begins anew.
        while choices.pop_if(|(taken, of)| *taken + 1 == *of).is_some() {}
        match choices.last_mut() {
            Some((taken, _)) => *taken += 1,
            None => return orders,
        }
    }
}

/// A choice that was made: which of how many threads went on.
type Choice = (usize, usize);

/// One run that makes the given choices first, and then the first of each.
fn run<S: Sync>(state: &S, bodies: &[ThreadBody<'_, S>], mut choices: Vec<Choice>) -> Vec<Choice> {
    let stage = Stage {
        places: Mutex::new(vec![Place::Runs; bodies.len()]),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for (number, body) in bodies.iter().enumerate() {
            let turn = Turn {
                stage: &stage,
                number,
            };
            scope.spawn(move || {
                let turn = turn;
                body(state, &turn);
            });
        }
        for at in 0.. {
            let waiting = stage.waiting();
            if waiting.is_empty() {
                return;
            }
            if choices.len() == at {
                choices.push((0, waiting.len()));
            }
            stage.put(waiting[choices[at].0], Place::Runs);
        }
    });
    choices
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Runs,
    Waits,
    Ended,
}

/// The state of each thread.
struct Stage {
    places: Mutex<Vec<Place>>,
    changed: Condvar,
}

impl Stage {
    fn put(&self, number: usize, place: Place) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)[number] = place;
        self.changed.notify_all();
    }

    /// The threads that wait for their turn, as soon as none runs.
    fn waiting(&self) -> Vec<usize> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        while places.contains(&Place::Runs) {
            places = self
                .changed
                .wait(places)
                .unwrap_or_else(PoisonError::into_inner);
        }
        (0..places.len())
            .filter(|&number| places[number] == Place::Waits)
            .collect()
    }
}

/// A thread's place among the others.
pub struct Turn<'a> {
    stage: &'a Stage,
    number: usize,
}

impl Turn<'_> {
    /// Lets others go on, and returns when it is this thread's turn.
    pub fn step(&self) {
        let mut places = self
            .stage
            .places
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        places[self.number] = Place::Waits;
        self.stage.changed.notify_all();
        while places[self.number] == Place::Waits {
            places = self
                .stage
                .changed
                .wait(places)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.stage.put(self.number, Place::Ended);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Adds one in two accesses, as code does that forgot about other threads.
    fn add(number: &AtomicU32, turn: &Turn<'_>) {
        turn.step();
        let seen = number.load(Ordering::SeqCst);
        turn.step();
        number.store(seen + 1, Ordering::SeqCst);
    }

    #[test]
    fn a_lost_update_is_found() {
        let lost = AtomicU32::new(0);
        let orders = every_order(
            || AtomicU32::new(0),
            &[&add, &add],
            |number| {
                _ = lost.fetch_add(
                    u32::from(number.load(Ordering::SeqCst) == 1),
                    Ordering::SeqCst,
                )
            },
        );
        // Two steps each: four of which two belong to the first.
        assert_eq!(orders, 6);
        assert!((1..6).contains(&lost.into_inner()));
    }
}
