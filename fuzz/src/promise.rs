//! What one input may cost: memory, counted by the allocator, and time, by what the scanner says it spent.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use scanner_core::{Limits, Resource};

/// Most bytes held at once because of one input.
const PEAK_BYTES: usize = 256 << 20;
/// Time of a run that says it did nothing: verdicts, releases, and the tables that are made when first asked for.
const FREE: Duration = Duration::from_millis(700);
/// A step is ten nanoseconds in the product. Coverage and checks of overflow make ten times that of it, a machine that
/// is shared with others twice that.
const PER_STEP: Duration = Duration::from_nanos(200);
/// A sanitizer (`SANITIZER` of `.ci/fuzz`) takes three times that: most of it when the first input makes the tables.
const SANITIZER_FACTOR: u32 = if option_env!("SANITIZER").is_some() { 3 } else { 1 };

/// The system's allocator (AddressSanitizer's, in a build with it), counted.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grown(by: usize) {
    let held = HELD.fetch_add(by, Relaxed) + by;
    PEAK.fetch_max(held, Relaxed);
}

fn shrunk(by: usize) {
    HELD.fetch_sub(by, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrunk(layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size);
        shrunk(layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The worst that was seen, told on standard error whenever it grows: what `.ci/fuzz` writes down.
struct Seen {
    peak_mib: AtomicUsize,
    longest_ms: AtomicU64,
}

static SEEN: Seen = Seen { peak_mib: AtomicUsize::new(0), longest_ms: AtomicU64::new(0) };

impl Seen {
    fn note(&self, peak: usize, took: Duration) {
        let (mib, ms) = (peak >> 20, u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let is_more = self.peak_mib.fetch_max(mib, Relaxed) < mib;
        if self.longest_ms.fetch_max(ms, Relaxed) < ms || is_more {
            eprintln!("worst: {} MiB, {} ms", self.peak_mib.load(Relaxed), self.longest_ms.load(Relaxed));
        }
    }
}

/// Does some work and holds it to what one input may cost. The work gives what it spent beside what came of it.
pub fn held<T>(work: impl FnOnce() -> (T, Limits)) -> T {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let begun = own_time();
    let (made, spent) = work();
    let took = own_time().saturating_sub(begun);
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    SEEN.note(peak, took);
    assert!(peak <= PEAK_BYTES, "{peak} bytes at once");
    let steps = u32::try_from(spent.get(Resource::Steps)).unwrap_or(u32::MAX);
    let allowed = (FREE + PER_STEP.saturating_mul(steps)) * SANITIZER_FACTOR;
    assert!(took <= allowed, "{took:?} for {steps} steps");
    made
}

/// Time that this thread has run: what others do on the machine does not count.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
