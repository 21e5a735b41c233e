//! Members of objects to terms.

use super::*;
use crate::json;

/// PMU and terms of the event of an object, or the fault.
fn shown(form: Form, object: &str) -> String {
    let text = format!("[{object}]");
    let document = json::read(&text);
    let context = FileContext {
        topic: "t",
        core: "cpu",
        standard: &StandardEvents::new(),
    };
    let mut store = StoreBuilder::default();
    if let Err(fault) = add(&document.lists[0].1[0], form, &context, &mut store) {
        return format!("expected {}", fault.expected);
    }
    let store = store.finish();
    let event = store.events().next();
    event.map_or("none".to_owned(), |event| {
        format!("{} {} {}", event.name, event.pmu, event.terms)
    })
}

#[test]
fn the_kernels_form() {
    for (members, expected) in [
        (
            r#""EventCode": "0xB7, 0xBB", "UMask": "0x1""#,
            "cpu event=0xb7,umask=1",
        ),
        (r#""EventCode": "0x9""#, "cpu event=9"),
        (
            r#""EventCode": "0x14", "CounterMask": "1", "SampleAfterValue": "2000003", "UMask": "0x00",
               "AnyThread": "1", "EdgeDetect": "1", "Invert": "0""#,
            "cpu event=0x14,any=1,cmask=1,edge=1,period=2000003",
        ),
        (
            r#""EventCode": "0x83", "FCMask": "0x07", "PortMask": "0x01", "UMask": "0x4", "Unit": "IIO""#,
            "uncore_iio event=0x83,ch_mask=1,fc_mask=7,umask=4",
        ),
        (
            r#""EventCode": "0x38", "ExtSel": "1", "Unit": "QPI LL""#,
            "uncore_qpi event=0x138",
        ),
        (
            r#""EventCode": "0x35", "UMask": "0x01", "UMaskExt": "0x00c817fe", "Unit": "CHA""#,
            "uncore_cha event=0x35,umask=0xc817fe01",
        ),
        (
            r#""EventCode": "0x35", "UMask": "0x21", "Unit": "CHA", "Filter": "config1=0x40433""#,
            "uncore_cha event=0x35,umask=0x21,config1=0x40433",
        ),
        (
            r#""EventCode": "0xb7", "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x3FBFC00001""#,
            "cpu event=0xb7,offcore_rsp=0x3FBFC00001",
        ),
        (
            r#""EventCode": "0xcd", "MSRIndex": "0x3F6", "MSRValue": "0x80""#,
            "cpu event=0xcd,ldlat=0x80",
        ),
        (
            r#""ConfigCode": "0x29", "Unit": "hisi_sccl,l3c""#,
            "hisi_sccl,l3c config=0x29",
        ),
        (
            r#""EventidCode": "0x5", "Unit": "arm_cmn""#,
            "arm_cmn eventid=5",
        ),
        (
            r#""EventCode": "0x1", "Unit": "L3PMC", "SliceId": "0x3""#,
            "amd_l3 event=1,sliceid=3",
        ),
        (
            r#""EventCode": "0x1", "Unit": "CPU-M-CF""#,
            "cpum_cf event=1",
        ),
        (
            r#""EventCode": 17, "Unit": "cpu_atom""#,
            "cpu_atom event=0x11",
        ),
    ] {
        let object = format!(r#"{{"EventName": "N.X", {members}}}"#);
        assert_eq!(shown(Form::Kernel, &object), format!("n.x {expected}"));
    }
    let fixed = r#"{"EventName": "INST_RETIRED.ANY", "EventCode": "0x00", "UMask": "0x1"}"#;
    assert_eq!(
        shown(Form::Kernel, fixed),
        "inst_retired.any cpu event=0xc0,period=2000003"
    );
}

#[test]
fn perfmons_form() {
    for (object, expected) in [
        (
            r#"{"EventName": "UNC_MC0_RDCAS_COUNT_FREERUN", "Unit": "iMC", "EventCode": "0x00", "UMask": "0x00", "CounterType": "FREERUN"}"#,
            "unc_mc0_rdcas_count_freerun uncore_imc_free_running_0 event=0xff,umask=0x20",
        ),
        (
            r#"{"EventName": "UNC_IIO_BANDWIDTH_OUT.PART3_FREERUN", "Unit": "IIO", "CounterType": "FREERUN"}"#,
            "unc_iio_bandwidth_out.part3_freerun uncore_iio_free_running event=0xff,umask=0x33",
        ),
        (
            r#"{"EventName": "UNC_CLOCK.SOCKET", "Unit": "NCU", "Counter": "FIXED", "UMask": "0x01"}"#,
            "unc_clock.socket uncore_clock event=0xff",
        ),
        (
            r#"{"EventName": "T", "Unit": "CHA", "EventCode": "0x35", "Filter": "Filter1", "FILTER_VALUE": "0x40433"}"#,
            "t uncore_cha event=0x35,config1=0x40433",
        ),
        (
            r#"{"EventName": "T", "Unit": "CHA", "EventCode": "0x35", "Filter": "CHAFilter1[31:0]"}"#,
            "t uncore_cha event=0x35",
        ),
        (
            r#"{"EventName": "T", "Unit": "HA", "EventCode": "0x35", "Filter": "HA_AddrMatch0[31:6]"}"#,
            "none",
        ),
        (
            r#"{"EventName": "OFFCORE_RESPONSE:request=ALL:response=ANY", "EventCode": "0xB7", "MSRIndex": "0x1a6", "MSRValue": "0x1"}"#,
            "offcore_response.all.any cpu event=0xb7,offcore_rsp=0x1",
        ),
        (
            r#"{"EventName": "A", "EventCode": "0xB7", "MSRIndex": "0", "MSRValue": "0"}"#,
            "a cpu event=0xb7",
        ),
    ] {
        assert_eq!(shown(Form::Perfmon, object), expected);
    }
}

#[test]
fn arms_form() {
    let object = r#"{"code": 64, "name": "L1D_CACHE_RD", "type": "UEVT", "description": "Reads."}"#;
    assert_eq!(shown(Form::Arm, object), "l1d_cache_rd cpu event=0x40");
    assert_eq!(
        shown(Form::Arm, r#"{"code": "x", "name": "A"}"#),
        "expected a number as code"
    );
    assert_eq!(shown(Form::Arm, r#"{"code": 1}"#), "none");
}

#[test]
fn what_is_no_number_is_named() {
    for (members, expected) in [
        (
            r#""UMask": "0xzz""#,
            "expected a number as UMask, not '0xzz'",
        ),
        (
            r#""EventCode": "-1""#,
            "expected a number as EventCode, not '-1'",
        ),
        (
            r#""MSRIndex": "0x99", "MSRValue": "1""#,
            "expected a known MSRIndex",
        ),
        (r#""Filter": "a/b""#, "expected terms as Filter"),
        (
            r#""ArchStdEvent": "X""#,
            "expected an ArchStdEvent of the folder above, not 'X'",
        ),
    ] {
        let object = format!(r#"{{"EventName": "n", {members}}}"#);
        assert_eq!(shown(Form::Kernel, &object), expected);
    }
}

#[test]
fn descriptions_say_what_perf_says() {
    let text = r#"[{"EventName": "a", "BriefDescription": "Loads.", "PublicDescription": "All loads.  ", "Data_LA": "1",
        "Errata": "E1", "PEBS": "2"}]"#;
    let document = json::read(text);
    let object = &document.lists[0].1[0];
    let fields = Fields {
        object,
        standard: None,
        form: Form::Kernel,
    };
    let behind = "  Supports address when precise.  Spec update: E1 (Must be precise)";
    let (brief, long) = descriptions(&fields);
    assert_eq!(brief.unwrap(), format!("Loads{behind}"));
    assert_eq!(long.unwrap(), format!("All loads{behind}"));
}
