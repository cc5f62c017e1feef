//! What markup in a file can be found guilty of. It acts when the file is opened: ordinary reports do, so nothing here
//! is worse than `medium` for having scripts alone.

use super::dtd;
use crate::finding::{Confidence, Rule, RuleText, Severity};

const ACTS: &str = "Open the file where scripts do not run, or clean the markup first.";
const LOADS: &str = "Open the file without network access, or take out what it loads.";
const SEEN: &str = "Look at the text that is not shown, and remove it if it is not wanted.";

const fn medium(id: &'static str, category: &'static str, title: &'static str, why: &'static str, remedy: &'static str) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, RuleText { title, why, remedy })
}

pub(in crate::format) static SCRIPT: Rule = medium(
    "markup/script",
    "html.script",
    "A script in the file",
    "It runs when the file is opened in a browser. Interactive reports are built that way, and so are pages that act against their reader.",
    ACTS,
);
pub(in crate::format) static HANDLER: Rule = medium(
    "markup/handler",
    "html.handler",
    "An attribute that runs script",
    "An event handler runs when the file is shown or touched, without any script element.",
    ACTS,
);
pub(in crate::format) static SCRIPT_URL: Rule = medium(
    "markup/script-url",
    "html.url",
    "An address that runs script",
    "An address such as javascript: or data:text/html runs script of the sender's choice when it is followed or loaded.",
    ACTS,
);
pub(in crate::format) static FRAME: Rule = medium(
    "markup/frame",
    "html.frame",
    "Embeds another page",
    "A frame shows a page of the sender's choice inside of this one, or runs a document of its own.",
    ACTS,
);
pub(in crate::format) static FORM: Rule = medium(
    "markup/form",
    "html.form",
    "A form that sends input elsewhere",
    "It asks the reader for input, which may be a password, and sends it to an address of the sender's choice.",
    ACTS,
);
pub(in crate::format) static OBJECT: Rule = medium(
    "markup/object",
    "html.object",
    "Embeds a plug-in or document",
    "An object, embed or applet element loads content that is run or shown by another program.",
    ACTS,
);
pub(in crate::format) static BASE: Rule = medium(
    "markup/base",
    "html.base",
    "Redirects every relative address of the page",
    "A base element makes links and scripts that look local load from another host.",
    ACTS,
);
pub(in crate::format) static META: Rule = medium(
    "markup/meta-refresh",
    "html.meta",
    "Sends the reader elsewhere",
    "A refresh leaves the file for an address of the sender's choice as soon as it is opened.",
    ACTS,
);
pub(in crate::format) static STYLE: Rule = medium(
    "markup/style",
    "html.style",
    "A style that runs script or reads the page",
    "Styles can run script in old programs, and tell another host what the page holds by what they load.",
    ACTS,
);
pub(in crate::format) static FOREIGN_OBJECT: Rule = Rule::built_in(
    "markup/foreign-object",
    "html.foreign_object",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "HTML inside of a picture",
        why: "A foreignObject brings a whole HTML document into what looks like a picture; diagrams use it for their labels.",
        remedy: "Nothing to do if the labels are all there is.",
    },
);
pub(in crate::format) static SMUGGLING: Rule = medium(
    "markup/smuggling",
    "html.smuggling",
    "A script that makes a file and hands it to the reader",
    "The file is put together in the browser, so nothing on its way there could look into it. Plots use the same to be saved as pictures.",
    ACTS,
);
pub(in crate::format) static BURIED: Rule = medium(
    "markup/buried",
    "html.markup",
    "Active markup inside of something that should be text",
    "Programs that read the file once more, or by other rules, find a script or a handler in an attribute, a style or an encoding where the first reading saw none.",
    ACTS,
);
pub(in crate::format) static EXTERNAL: Rule = medium(
    "markup/external",
    "net.external_ref",
    "Loads from another machine",
    "Opening the file contacts that machine, which learns who opened it and when, and can send something else each time.",
    LOADS,
);
pub(in crate::format) static LINK: Rule = Rule::built_in(
    "markup/link",
    "net.link",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "Links to other pages",
        why: "A link is followed only when somebody chooses to.",
        remedy: "Nothing to do.",
    },
);
pub(in crate::format) static PROTOCOL: Rule = medium(
    "markup/protocol",
    "exec.protocol",
    "An address that starts a program of the reader's machine",
    "Addresses such as ms-msdt: or search-ms: hand over to programs which have been made to run commands that way.",
    "Take the address out, or deliver it as text.",
);
pub(in crate::format) static ATTRIBUTES: Rule = medium(
    "markup/attributes",
    "bomb.entries",
    "More attributes on one element than anything needs",
    "Programs compare every attribute with every other: the time such an element takes grows with the square of its size.",
    "Do not open the file.",
);
pub(in crate::format) static NESTING: Rule = medium(
    "markup/nesting",
    "bomb.recursion",
    "Elements nested deeper than anything needs",
    "Programs that follow the nesting run out of stack or take time that grows with the square of the depth.",
    "Do not open the file.",
);
pub(in crate::format) static NUL: Rule = medium(
    "markup/nul",
    "malformed.structure",
    "Zero bytes in markup",
    "Some programs drop them, some stop there, some read them as letters: each sees other elements.",
    "Write the file again without them.",
);
pub(in crate::format) static CHARSET: Rule = medium(
    "markup/charset",
    "malformed.encoding",
    "An encoding in which harmless letters become markup",
    "Read as UTF-7 or with the shifts of ISO-2022 the same bytes are other characters, and a script may stand where none is seen.",
    "Write the file again as UTF-8.",
);
pub(in crate::format) static HIDDEN_STYLE: Rule = medium(
    "markup/hidden-style",
    "hidden.style",
    "An instruction or a secret in an element that is not shown",
    "A person who looks at the page does not see it; a program or a model that reads the file does.",
    SEEN,
);
pub(in crate::format) static HIDDEN_COMMENT: Rule = medium(
    "markup/hidden-comment",
    "hidden.comment",
    "An instruction or a secret in a comment",
    "A person who looks at the page does not see it; a program or a model that reads the file does.",
    SEEN,
);
pub(in crate::format) static HIDDEN_COLOUR: Rule = medium(
    "markup/hidden-color",
    "hidden.color",
    "An instruction or a secret in the colour of its background",
    "A person who looks at the page does not see it; a program or a model that reads the file does.",
    SEEN,
);
pub(in crate::format) static HIDDEN_SIZE: Rule = medium(
    "markup/hidden-size",
    "hidden.size",
    "An instruction or a secret in letters too small to read",
    "A person who looks at the page does not see it; a program or a model that reads the file does.",
    SEEN,
);
pub(in crate::format) static HIDDEN_AWAY: Rule = medium(
    "markup/hidden-offpage",
    "hidden.offpage",
    "An instruction or a secret outside of the page",
    "A person who looks at the page does not see it; a program or a model that reads the file does.",
    SEEN,
);

/// All of them, and those of document types.
pub(in crate::format) const ALL: [&Rule; 27] = [
    &SCRIPT,
    &HANDLER,
    &SCRIPT_URL,
    &FRAME,
    &FORM,
    &OBJECT,
    &BASE,
    &META,
    &STYLE,
    &FOREIGN_OBJECT,
    &SMUGGLING,
    &BURIED,
    &EXTERNAL,
    &LINK,
    &PROTOCOL,
    &ATTRIBUTES,
    &NESTING,
    &NUL,
    &CHARSET,
    &HIDDEN_STYLE,
    &HIDDEN_COMMENT,
    &HIDDEN_COLOUR,
    &HIDDEN_SIZE,
    &HIDDEN_AWAY,
    &dtd::EXTERNAL_ENTITY,
    &dtd::INTERNAL_ENTITY,
    &dtd::ENTITIES,
];
