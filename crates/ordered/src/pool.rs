//! Workers that take tasks in order, and their results in the same order.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// A task, and the way that its result goes back.
type Job<T, R> = (T, Sender<R>);

/// Workers on threads that the caller starts. Tasks are worked on in any order and their results taken in the order of
/// the tasks.
///
/// ```
/// use oxperf_ordered::OrderedPool;
///
/// let mut pool = OrderedPool::new();
/// pool.start_workers(2, |queue| {
///     std::thread::Builder::new().spawn(move || queue.run(|number: u32| number * 2)).map(drop)
/// });
/// for number in 0..3 {
///     pool.submit(number).unwrap();
/// }
/// assert_eq!((pool.take(0)?, pool.take(0)?, pool.take(0)?), (Some(0), Some(2), Some(4)));
/// assert_eq!(pool.take(0)?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OrderedPool<T, R> {
    jobs: Sender<Job<T, R>>,
    queue: TaskQueue<T, R>,
    /// Results that are still to come, in the order of their tasks.
    pending: VecDeque<Receiver<R>>,
    workers: usize,
}

impl<T, R> Default for OrderedPool<T, R> {
    fn default() -> Self {
        OrderedPool::new()
    }
}

impl<T, R> OrderedPool<T, R> {
    /// A pool without workers.
    pub fn new() -> OrderedPool<T, R> {
        let (jobs, queue) = channel();
        OrderedPool {
            jobs,
            queue: TaskQueue(Arc::new(Mutex::new(queue))),
            pending: VecDeque::new(),
            workers: 0,
        }
    }

    /// Starts workers, at most `count`: `start` gets the queue of tasks for each and starts a thread with
    /// [`TaskQueue::run`]. No further thread is tried after the first that cannot be had.
    pub fn start_workers(
        &mut self,
        count: usize,
        mut start: impl FnMut(TaskQueue<T, R>) -> io::Result<()>,
    ) {
        for _ in 0..count {
            if start(self.queue.clone()).is_err() {
                break;
            }
            self.workers += 1;
        }
    }

    /// Whether there is anybody to work on tasks.
    pub fn has_workers(&self) -> bool {
        self.workers > 0
    }

    /// Hands a task to the workers.
    ///
    /// # Errors
    /// There are no workers: the task comes back, and [`OrderedPool::push_result`] takes what the caller makes of it.
    pub fn submit(&mut self, task: T) -> Result<(), T> {
        if !self.has_workers() {
            return Err(task);
        }
        let (done, result) = channel();
        match self.jobs.send((task, done)) {
            Ok(()) => {
                self.pending.push_back(result);
                Ok(())
            }
            Err(refused) => Err(refused.0.0),
        }
    }

    /// Takes the result of a task that the caller has worked on itself, in the place of that task.
    pub fn push_result(&mut self, result: R) {
        // The other end is at hand.
        let _ = self.promise().send(result);
    }

    /// Reserves the place of the next result, which whoever holds the sender is to give.
    pub fn promise(&mut self) -> Sender<R> {
        let (done, waiting) = channel();
        self.pending.push_back(waiting);
        done
    }

    /// Tasks whose results were not taken yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The next result. Waits for it where more than `limit` tasks are pending; otherwise `None` where it is not there
    /// yet. `None`, too, where no task is pending.
    ///
    /// # Errors
    /// The worker of the task ended without a result.
    pub fn take(&mut self, limit: usize) -> io::Result<Option<R>> {
        let Some(next) = self.pending.front() else {
            return Ok(None);
        };
        let result = if self.pending.len() > limit {
            next.recv().map_err(io::Error::other)?
        } else {
            let Ok(result) = next.try_recv() else {
                return Ok(None);
            };
            result
        };
        self.pending.pop_front();
        Ok(Some(result))
    }
}

/// The tasks of a pool, shared by its workers.
#[derive(Debug)]
pub struct TaskQueue<T, R>(Arc<Mutex<Receiver<Job<T, R>>>>);

impl<T, R> Clone for TaskQueue<T, R> {
    fn clone(&self) -> Self {
        TaskQueue(Arc::clone(&self.0))
    }
}

impl<T, R> TaskQueue<T, R> {
    /// Works on tasks as they come, until the pool is dropped and no task is left.
    pub fn run(&self, mut work: impl FnMut(T) -> R) {
        while let Some((task, done)) = self.next() {
            // Nobody waits where the pool was dropped.
            let _ = done.send(work(task));
        }
    }

    fn next(&self) -> Option<Job<T, R>> {
        let queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        let mut pool = OrderedPool::new();
        thread::scope(|scope| {
            pool.start_workers(3, |queue| {
                let work = move |number: u64| {
                    thread::sleep(Duration::from_millis(3 - number % 3));
                    number
                };
                thread::Builder::new()
                    .spawn_scoped(scope, move || queue.run(work))
                    .map(drop)
            });
            (0..20).for_each(|number| pool.submit(number).unwrap());
            assert_eq!(pool.pending(), 20);
            let taken: Vec<u64> = std::iter::from_fn(|| pool.take(0).unwrap()).collect();
            assert_eq!(taken, (0..20).collect::<Vec<_>>());
            drop(pool);
        });
    }

    #[test]
    fn a_pool_without_workers_gives_tasks_back() {
        let mut pool: OrderedPool<&str, &str> = OrderedPool::new();
        pool.start_workers(1, |_| Err(io::ErrorKind::OutOfMemory.into()));
        assert!(!pool.has_workers());
        assert_eq!(pool.submit("task"), Err("task"));
        pool.push_result("result");
        assert_eq!(pool.take(1).unwrap(), Some("result"));
    }

    #[test]
    fn a_worker_that_fails_is_an_error() {
        let mut pool: OrderedPool<(), ()> = OrderedPool::new();
        pool.start_workers(1, |queue| {
            // It takes a task and leaves.
            thread::Builder::new()
                .spawn(move || drop(queue.next()))
                .map(drop)
        });
        pool.submit(()).unwrap();
        assert!(pool.take(0).is_err());
    }
}
