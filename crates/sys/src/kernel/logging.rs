//! A kernel whose opened events are written down, each in a file of its own: perf's own tests of attributes read them.

use super::{Kernel, OwnEvents};
use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, BpfProgramId, Control, CounterPage,
    CounterRead, DataRing, Errno, EventFd, Notification, OpenError, OpenRequest, ReadError,
    RingError, RingPages,
};
use oxperf_abi::EventId;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// An event that was opened and could not be written down.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {}", .path.display(), Errno::of(.source))]
pub struct OpenLogError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub source: io::Error,
}

/// Passes every call on to another kernel, and writes each event that it opens to `event-TYPE-CONFIG-DESCRIPTOR` in a
/// folder, as perf does where `PERF_TEST_ATTR` names one.
pub struct LoggingKernel<'a> {
    inner: &'a dyn Kernel,
    folder: PathBuf,
    failure: Mutex<Option<OpenLogError>>,
}

impl LoggingKernel<'_> {
    /// Writes what `inner` opens to `folder`.
    pub fn new(inner: &dyn Kernel, folder: PathBuf) -> LoggingKernel<'_> {
        LoggingKernel {
            inner,
            folder,
            failure: Mutex::new(None),
        }
    }

    /// Takes the first failure to write an event down.
    pub fn take_failure(&self) -> Option<OpenLogError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn log(&self, request: &OpenRequest<'_>, event: &EventFd) {
        let descriptor = event.as_raw_fd();
        let attr = request.attr;
        let name = format!("event-{}-{}-{descriptor}", attr.kind.0, attr.config);
        let path = self.folder.join(&name);
        let text = format!("[{name}]\nfd={descriptor}\n{}\n", request.description());
        if let Err(source) = fs::write(&path, text) {
            self.failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(OpenLogError { path, source });
        }
    }
}

impl Kernel for LoggingKernel<'_> {
    fn open(&self, request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
        let event = self.inner.open(request)?;
        self.log(request, &event);
        Ok(event)
    }

    fn control(&self, event: &EventFd, control: Control<'_>) -> io::Result<()> {
        self.inner.control(event, control)
    }

    fn control_own_events(&self, change: OwnEvents) -> io::Result<()> {
        self.inner.control_own_events(change)
    }

    fn id(&self, event: &EventFd) -> io::Result<EventId> {
        self.inner.id(event)
    }

    fn bpf_programs(&self, event: &EventFd) -> io::Result<Vec<BpfProgramId>> {
        self.inner.bpf_programs(event)
    }

    fn read(&self, event: &EventFd) -> Result<CounterRead, ReadError> {
        self.inner.read(event)
    }

    fn notify(&self, event: &EventFd, notification: Option<Notification>) -> io::Result<()> {
        self.inner.notify(event, notification)
    }

    fn set_blocking(&self, event: &EventFd, blocking: bool) -> io::Result<()> {
        self.inner.set_blocking(event, blocking)
    }

    fn map_counter_page(&self, event: &EventFd) -> Result<CounterPage, RingError> {
        self.inner.map_counter_page(event)
    }

    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        self.inner.map_ring(event, pages)
    }

    fn map_backward_ring(
        &self,
        event: &EventFd,
        pages: RingPages,
    ) -> Result<BackwardRing, RingError> {
        self.inner.map_backward_ring(event, pages)
    }

    fn map_aux(&self, event: &EventFd, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
        self.inner.map_aux(event, pages)
    }

    fn map_aux_snapshot(
        &self,
        event: &EventFd,
        pages: AuxPages,
    ) -> Result<(DataRing, AuxSnapshotRing), RingError> {
        self.inner.map_aux_snapshot(event, pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventTask, FakeKernel};
    use oxperf_abi::{Cpu, EventAttr, EventType};

    fn attr() -> EventAttr {
        EventAttr {
            kind: EventType::HARDWARE,
            config: 3,
            ..EventAttr::default()
        }
    }

    #[test]
    fn an_opened_event_has_a_file() {
        let folder = std::env::temp_dir().join(format!("oxperf-open-log-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (fake, attr) = (FakeKernel::new(), attr());
        let kernel = LoggingKernel::new(&fake, folder.clone());
        let request = OpenRequest {
            cpu: Some(Cpu(2)),
            ..OpenRequest::new(&attr, EventTask::Any)
        };
        let leader = kernel.open(&request).unwrap();
        let member = kernel.open(&OpenRequest {
            group: Some(&leader),
            ..request
        });
        let (leader, member) = (leader.as_raw_fd(), member.unwrap().as_raw_fd());
        let text = fs::read_to_string(folder.join(format!("event-0-3-{member}"))).unwrap();
        let begin =
            format!("[event-0-3-{member}]\nfd={member}\ngroup_fd={leader}\ncpu=2\npid=-1\n");
        assert!(text.starts_with(&begin), "{text}");
        assert!(kernel.take_failure().is_none());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_a_failure_and_a_refused_event_none() {
        let (refusing, attr) = (
            FakeKernel::new().refusing(|_| Some(crate::Errno(2))),
            attr(),
        );
        let request = OpenRequest::new(&attr, EventTask::Any);
        let kernel = LoggingKernel::new(&refusing, "/dev/null/folder".into());
        assert!(kernel.open(&request).is_err());
        assert!(kernel.take_failure().is_none());
        let taking = FakeKernel::new();
        let kernel = LoggingKernel::new(&taking, "/dev/null/folder".into());
        kernel.open(&request).unwrap();
        let failure = kernel.take_failure().unwrap().to_string();
        assert!(
            failure.starts_with("cannot write /dev/null/folder/event-0-3-"),
            "{failure}"
        );
    }
}
