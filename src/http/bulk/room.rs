//! Room for the bytes that a stream holds. Beyond a small allowance they count among the bodies in flight, so that streams
//! which never end a line fill no memory.
//!
//! A stream waits only for the room of a line, and only while it holds no other room: two that held some and waited for
//! more would wait for each other.

use super::super::{
    in_flight::{ALLOWANCE, InFlight, Room},
    problem::ApiError,
};
use crate::domain::identity::TenantId;

/// Room of a part; one that is larger is accepted at once.
const PART_BYTES: usize = 4 * 1024 * 1024;

/// Room of a stream.
pub(super) struct StreamRoom {
    in_flight: InFlight,
    tenant: TenantId,
    /// Longest line that the stream can bring.
    line_bytes: usize,
    line: Option<Room>,
    part: Option<Room>,
}

impl StreamRoom {
    pub(super) const fn new(in_flight: InFlight, tenant: TenantId, line_bytes: usize) -> Self {
        Self { in_flight, tenant, line_bytes, line: None, part: None }
    }

    /// Whether a line of this length may be held, without waiting.
    pub(super) fn admits_line(&mut self, bytes: usize) -> bool {
        if bytes > ALLOWANCE && self.line.is_none() {
            self.line = self.in_flight.try_room(self.tenant, self.line_bytes);
        }
        bytes <= ALLOWANCE || self.line.is_some()
    }

    /// Waits for room for a line.
    ///
    /// # Errors
    /// 503 if others hold the room for too long.
    pub(super) fn of_line(&self) -> impl Future<Output = Result<Room, ApiError>> + Send + use<> {
        self.in_flight.room_for(self.tenant, self.line_bytes)
    }

    /// Holds a line in this room.
    pub(super) fn begin_line(&mut self, room: Room) {
        self.line = Some(room);
    }

    /// Gives the room of a line back.
    pub(super) fn end_line(&mut self) {
        self.line = None;
    }

    /// Whether a part of this size may be held, without waiting.
    pub(super) fn admits_part(&mut self, bytes: usize) -> bool {
        if bytes == 0 {
            self.part = None;
        } else if bytes > ALLOWANCE && self.part.is_none() {
            self.part = self.in_flight.try_room(self.tenant, PART_BYTES);
        }
        bytes <= ALLOWANCE || self.part.is_some()
    }
}
