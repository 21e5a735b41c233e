//! Events beside the flow of control, and the state of the processor.

use super::Decoder;
use crate::event::{BlockValue, Event, Transfer, TransferCause};
use crate::packet::{ControlFlowEvent, ModeExec, ModeTsx, Packet};
use crate::state::Bound;

/// Values of a block, and data before an event, that are kept at most.
const MANY: usize = 1024;

impl Decoder<'_> {
    /// A packet that does not steer the flow of control.
    pub(super) fn on_event(&mut self, packet: Packet) {
        match packet {
            Packet::ModeExec(mode) => {
                self.set_mode(mode);
                self.bound.mode = Some(mode);
            }
            Packet::Trigger(trigger) if trigger.ip() => self.bound.trigger = Some(trigger),
            Packet::ModeTsx(mode) => self.on_transaction(mode),
            Packet::Pip(pip) => self.set_guest(pip.non_root()),
            Packet::PtWrite(write) if write.ip() => self.bound.write = Some(write.value()),
            Packet::PtWrite(write) => self.tell_event(Event::PtWrite {
                value: write.value(),
                ip: None,
            }),
            Packet::Mwait(wait) => self.bound.wait = Some(wait),
            Packet::PowerEntry(entry) if self.bound.wait.is_some() => {
                self.bound.power_entry = Some(entry)
            }
            Packet::PowerEntry(entry) => self.tell_event(Event::PowerEntry(entry)),
            Packet::ExStop(true) => self.bound.stop = true,
            Packet::ExStop(false) => self.tell_event(Event::ExStop { ip: None }),
            Packet::PowerExit(exit) => self.tell_event(Event::PowerExit(exit)),
            Packet::BlockBegin(block) => {
                self.block_kind = block.kind();
            }
            Packet::BlockItem(item) if self.waiting_items.len() < MANY => {
                self.waiting_items.push(BlockValue {
                    block: self.block_kind,
                    item,
                });
            }
            Packet::BlockEnd(true) => self.bound.block = true,
            Packet::BlockEnd(false) => self.tell_block(None),
            Packet::EventData(data) if self.waiting_data.len() < MANY => {
                self.waiting_data.push(data)
            }
            // While code is traced, the next address is the event's.
            Packet::ControlFlowEvent(event) if event.ip() || self.enabled => {
                self.bound.control_flow = Some(event);
            }
            Packet::ControlFlowEvent(event) => {
                let ip = Some(self.ip()).filter(|ip| *ip != 0);
                self.tell_control_flow(event, ip, None);
            }
            _ => {}
        }
    }

    /// MODE.TSX: belongs to the FUP that follows while code is traced.
    fn on_transaction(&mut self, mode: ModeTsx) {
        if self.enabled {
            self.bound.transaction = Some(mode);
        } else {
            self.mode.in_transaction = mode.in_transaction();
        }
    }

    /// The mode that holds from the next address on.
    pub(super) fn set_mode(&mut self, mode: ModeExec) {
        if let Some(width) = mode.mode() {
            self.next_context.mode = width;
        }
        self.interrupts = mode.interrupt_flag();
    }

    /// The mode that holds now.
    pub(super) fn set_mode_now(&mut self, mode: ModeExec) {
        self.set_mode(mode);
        self.switch_context();
        self.mode.interrupts_disabled = !self.interrupts;
    }

    /// Whether the interrupt flag is another one from the next address on.
    #[inline]
    pub(super) fn interrupts_change(&self) -> bool {
        self.interrupts == self.mode.interrupts_disabled
    }

    /// Whether something is to be told with the next transfer of control.
    #[inline]
    pub(super) fn transfer_tells(&self) -> bool {
        self.interrupts_change() || self.bound.control_flow.is_some()
    }

    /// Tells what comes with a transfer of control from `ip`, which is told next; [`Decoder::end_transfer`] follows.
    pub(super) fn begin_transfer(&mut self, ip: u64, transfer: Transfer) {
        let caused = self.bound.control_flow.take();
        // Where tracing ends, the new interrupt flag is another code's.
        self.mode.interrupts_toggled = self.interrupts_change() && !transfer.end;
        if let Some(event) = caused {
            let ip = (transfer.by != TransferCause::Begin).then_some(ip);
            self.tell_control_flow(event, ip, Some(transfer));
        }
        if self.mode.interrupts_toggled {
            let enabled = self.interrupts;
            self.tell_event(Event::InterruptFlag {
                enabled,
                ip,
                transfer: Some(transfer),
            });
        }
    }

    /// The transfer was told: its new interrupt flag holds.
    pub(super) fn end_transfer(&mut self) {
        if std::mem::take(&mut self.mode.interrupts_toggled) {
            self.mode.interrupts_disabled = !self.interrupts;
        }
    }

    /// Tells a new interrupt flag that an instruction before `ip` made.
    fn tell_interrupts(&mut self, ip: u64) {
        self.mode.interrupts_toggled = self.interrupts_change();
        if self.mode.interrupts_toggled {
            self.tell_event(Event::InterruptFlag {
                enabled: self.interrupts,
                ip,
                transfer: None,
            });
        }
        self.end_transfer();
    }

    /// Whose code runs from the next address on.
    pub(super) fn set_guest(&mut self, guest: bool) {
        self.next_context.guest = guest;
    }

    /// Whose code runs now.
    pub(super) fn set_guest_now(&mut self, guest: bool) {
        self.set_guest(guest);
        self.switch_context();
    }

    /// The next address is reached.
    pub(super) fn switch_context(&mut self) {
        self.context = self.next_context;
        self.mode.width = self.context.mode;
        self.mode.guest = self.context.guest;
        self.mode.guest_toggled = false;
    }

    /// Tells the events that waited for the address of a FUP.
    pub(super) fn tell_bound(&mut self, ip: Option<u64>) {
        if self.bound.is_empty() {
            return;
        }
        let bound = self.bound.take_named();
        if let Some(event) = bound.control_flow {
            self.tell_control_flow(event, ip, None);
        }
        if let (Some(_), Some(ip)) = (bound.mode, ip) {
            self.tell_interrupts(ip);
        }
        if let (Some(mode), Some(ip)) = (bound.transaction, ip) {
            self.mode.in_transaction = mode.in_transaction();
            self.aborting = mode.aborted();
            if !mode.aborted() {
                self.tell_event(Event::Transaction {
                    ip,
                    began: mode.in_transaction(),
                });
            }
        }
        self.tell_bound_writes(bound, ip);
        if bound.block {
            self.tell_block(ip);
        }
    }

    fn tell_bound_writes(&mut self, bound: Bound, ip: Option<u64>) {
        if let Some(value) = bound.write {
            self.tell_event(Event::PtWrite { value, ip });
        }
        if let Some(wait) = bound.wait {
            self.tell_event(Event::Mwait(wait));
        }
        if let Some(entry) = bound.power_entry {
            self.tell_event(Event::PowerEntry(entry));
        }
        if bound.stop {
            self.tell_event(Event::ExStop { ip });
        }
    }

    fn tell_block(&mut self, ip: Option<u64>) {
        self.items.clear();
        std::mem::swap(&mut self.items, &mut self.waiting_items);
        self.tell_event(Event::Block { ip });
    }

    fn tell_control_flow(
        &mut self,
        event: ControlFlowEvent,
        ip: Option<u64>,
        transfer: Option<Transfer>,
    ) {
        self.event_data.clear();
        std::mem::swap(&mut self.event_data, &mut self.waiting_data);
        let data = self.event_data.len() as u8;
        self.tell_event(Event::ControlFlow {
            event,
            ip,
            transfer,
            data,
        });
    }
}
