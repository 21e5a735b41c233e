//! The processes of a user: those that run now.

use std::fs;
use std::os::unix::fs::MetadataExt;

use oxperf_abi::Pid;
use oxperf_capture::synthesize::ProcDir;
use oxperf_present::text::sanitize;

use super::ArgumentProblem;

/// The processes of a user who is named, or given as a number.
///
/// # Errors
/// There is no such user, or the user runs nothing.
pub(super) fn processes(user: &str) -> Result<Vec<Pid>, ArgumentProblem> {
    let list = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let id = user_id(user, &list).ok_or_else(|| {
        let user = sanitize(user);
        ArgumentProblem::Contradiction(format!("Error:\nInvalid User: {user}"))
    })?;
    let proc = ProcDir::new("/proc".as_ref());
    let is_of_user = |pid: &Pid| {
        let folder = fs::metadata(proc.file(&pid.to_string()));
        folder.is_ok_and(|folder| folder.uid() == id)
    };
    let processes: Vec<Pid> = proc.processes().into_iter().filter(is_of_user).collect();
    if processes.is_empty() {
        let message = format!(
            "Couldn't create thread/CPU maps: No such process (user '{}' runs none)",
            sanitize(user)
        );
        return Err(ArgumentProblem::NoTask(message));
    }
    Ok(processes)
}

/// The number of a user, by the list of users or as it is given.
fn user_id(user: &str, list: &str) -> Option<u32> {
    let named = list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_meant = fields.next() == Some(user);
        is_meant.then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    named.or_else(|| user.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names_and_numbers() {
        let list = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:7::/:\nbroken\n";
        assert_eq!(user_id("me", list), Some(1000));
        assert_eq!(user_id("77", list), Some(77));
        assert_eq!((user_id("broken", list), user_id("-1", list)), (None, None));
    }

    #[test]
    fn this_process_is_among_those_of_its_user() {
        let own = oxperf_sys::process::effective_user().to_string();
        let own_pid = Pid(std::process::id().cast_signed());
        assert!(processes(&own).unwrap().contains(&own_pid));
        assert!(matches!(
            processes("no such user"),
            Err(ArgumentProblem::Contradiction(_))
        ));
    }
}
