//! Events beside the flow of control.

use super::Emitter;
use crate::event::{BlockValue, Event, Transfer, TransferCause};
use crate::packet::{ControlFlowEvent, EventData, ModeTsx, Packet};
use crate::state::Bound;

/// Values of a block, and data before an event, that are kept at most.
const MAX_VALUES: usize = 1024;

/// Events that wait for an address, and the data of the last ones.
#[derive(Debug, Default)]
pub(super) struct WaitingEvents {
    bound: Bound,
    waiting_data: Vec<EventData>,
    event_data: Vec<EventData>,
    waiting_items: Vec<BlockValue>,
    block_kind: u8,
    items: Vec<BlockValue>,
}

impl WaitingEvents {
    /// Nothing waits.
    pub(super) fn clear(&mut self) {
        self.bound = Bound::default();
        self.waiting_data.clear();
        self.waiting_items.clear();
    }

    fn is_empty(&self) -> bool {
        self.bound.is_empty() && self.waiting_data.is_empty() && self.waiting_items.is_empty()
    }
}

impl Emitter<'_> {
    /// A packet that does not steer the flow of control.
    pub(in crate::decoder) fn on_event(&mut self, packet: Packet) {
        let tracing = self.processor().is_tracing();
        let events = &mut self.events;
        let bound = &mut events.bound;
        match packet {
            Packet::ModeExec(mode) => {
                bound.mode = Some(mode);
                self.processor_mut().set_mode(mode);
            }
            Packet::Trigger(trigger) if trigger.ip() => bound.trigger = Some(trigger),
            // It belongs to the FUP that follows while code is traced.
            Packet::ModeTsx(mode) if tracing => bound.transaction = Some(mode),
            Packet::ModeTsx(mode) => {
                let in_transaction = mode.in_transaction();
                self.processor_mut().set_in_transaction(in_transaction);
            }
            Packet::Pip(pip) => self.processor_mut().set_guest(pip.non_root()),
            Packet::PtWrite(write) if write.ip() => bound.write = Some(write.value()),
            Packet::PtWrite(write) => self.emit_event(Event::PtWrite {
                value: write.value(),
                ip: None,
            }),
            Packet::Mwait(wait) => bound.wait = Some(wait),
            Packet::PowerEntry(entry) if bound.wait.is_some() => bound.power_entry = Some(entry),
            Packet::PowerEntry(entry) => self.emit_event(Event::PowerEntry(entry)),
            Packet::ExStop(true) => bound.stop = true,
            Packet::ExStop(false) => self.emit_event(Event::ExStop { ip: None }),
            Packet::PowerExit(exit) => self.emit_event(Event::PowerExit(exit)),
            Packet::BlockBegin(block) => events.block_kind = block.kind(),
            Packet::BlockItem(item) if events.waiting_items.len() < MAX_VALUES => {
                let block = events.block_kind;
                events.waiting_items.push(BlockValue { block, item });
            }
            Packet::BlockEnd(true) => bound.block = true,
            Packet::BlockEnd(false) => self.emit_block(None),
            Packet::EventData(data) if events.waiting_data.len() < MAX_VALUES => {
                events.waiting_data.push(data);
            }
            // While code is traced, the next address is the event's.
            Packet::ControlFlowEvent(event) if event.ip() || tracing => {
                bound.control_flow = Some(event);
            }
            Packet::ControlFlowEvent(event) => {
                self.emit_control_flow(event, self.walker.ip(), None);
            }
            _ => {}
        }
    }

    /// True if nothing waits for an address or a block's end.
    pub(in crate::decoder) fn has_no_waiting_events(&self) -> bool {
        self.events.is_empty()
    }

    /// True if nothing waits for an address.
    pub(in crate::decoder) fn has_no_bound_events(&self) -> bool {
        self.events.bound.is_empty()
    }

    /// True if control leaves at the address of a FUP, so that a TIP packet follows.
    pub(in crate::decoder) fn leaves_at_fup(&self) -> bool {
        self.events.bound.leaves()
    }

    /// The transaction state that waits for the address of a FUP.
    pub(in crate::decoder) fn bound_transaction(&self) -> Option<ModeTsx> {
        self.events.bound.transaction
    }

    /// Nothing waits for an address any more.
    pub(in crate::decoder) fn forget_bound(&mut self) {
        self.events.bound = Bound::default();
    }

    /// The mode does not wait for an address any more.
    #[inline]
    pub(in crate::decoder) fn forget_bound_mode(&mut self) {
        self.events.bound.mode = None;
    }

    /// The data of the last event of control flow.
    pub(in crate::decoder) fn event_data(&self) -> &[EventData] {
        &self.events.event_data
    }

    /// The values of the last block.
    pub(in crate::decoder) fn block_items(&self) -> &[BlockValue] {
        &self.events.items
    }

    /// True if something is to be emitted with the next transfer of control.
    #[inline]
    pub(in crate::decoder) fn has_event_of_transfer(&self) -> bool {
        self.processor().changes_interrupts() || self.events.bound.control_flow.is_some()
    }

    /// Emits the events of a transfer of control from `ip`, which is emitted next; [`Emitter::end_transfer`] follows.
    pub(in crate::decoder) fn begin_transfer(&mut self, ip: Option<u64>, transfer: Transfer) {
        let caused = self.events.bound.control_flow.take();
        // Where tracing ends, the new interrupt flag is another code's.
        let is_toggled = self.processor_mut().begin_interrupt_change(!transfer.end);
        if let Some(event) = caused {
            let ip = ip.filter(|_| transfer.by != TransferCause::Begin);
            self.emit_control_flow(event, ip, Some(transfer));
        }
        if is_toggled {
            self.emit_interrupts(ip, Some(transfer));
        }
    }

    /// The transfer was emitted: its new interrupt flag holds.
    pub(in crate::decoder) fn end_transfer(&mut self) {
        self.processor_mut().end_interrupt_change();
    }

    fn emit_interrupts(&mut self, ip: Option<u64>, transfer: Option<Transfer>) {
        let enabled = self.processor().next_interrupts();
        self.emit_event(Event::InterruptFlag {
            enabled,
            ip,
            transfer,
        });
    }

    /// Emits the events that waited for the address of a FUP. Of a new transaction state: whether it is an abort.
    pub(in crate::decoder) fn emit_bound(&mut self, ip: u64) -> Option<bool> {
        if self.events.bound.is_empty() {
            return None;
        }
        let bound = self.events.bound.take_named();
        if let Some(event) = bound.control_flow {
            self.emit_control_flow(event, Some(ip), None);
        }
        if bound.mode.is_some() {
            if self.processor_mut().begin_interrupt_change(true) {
                self.emit_interrupts(Some(ip), None);
            }
            self.processor_mut().end_interrupt_change();
        }
        if let Some(mode) = bound.transaction {
            self.begin_or_end_transaction(mode, ip);
        }
        self.emit_bound_writes(bound, ip);
        if bound.block {
            self.emit_block(Some(ip));
        }
        bound.transaction.map(ModeTsx::aborted)
    }

    fn begin_or_end_transaction(&mut self, mode: ModeTsx, ip: u64) {
        let began = mode.in_transaction();
        self.processor_mut().set_in_transaction(began);
        if !mode.aborted() {
            self.emit_event(Event::Transaction { ip, began });
        }
    }

    fn emit_bound_writes(&mut self, bound: Bound, ip: u64) {
        let ip = Some(ip);
        if let Some(value) = bound.write {
            self.emit_event(Event::PtWrite { value, ip });
        }
        if let Some(wait) = bound.wait {
            self.emit_event(Event::Mwait(wait));
        }
        if let Some(entry) = bound.power_entry {
            self.emit_event(Event::PowerEntry(entry));
        }
        if bound.stop {
            self.emit_event(Event::ExStop { ip });
        }
    }

    fn emit_block(&mut self, ip: Option<u64>) {
        self.events.items.clear();
        std::mem::swap(&mut self.events.items, &mut self.events.waiting_items);
        self.emit_event(Event::Block { ip });
    }

    fn emit_control_flow(
        &mut self,
        event: ControlFlowEvent,
        ip: Option<u64>,
        transfer: Option<Transfer>,
    ) {
        self.events.event_data.clear();
        std::mem::swap(&mut self.events.event_data, &mut self.events.waiting_data);
        let data = self.events.event_data.len() as u8;
        self.emit_event(Event::ControlFlow {
            event,
            ip,
            transfer,
            data,
        });
    }
}
