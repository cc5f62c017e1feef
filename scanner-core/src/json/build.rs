//! Tokens to nodes, without recursion.

use crate::{
    finding::Stop,
    limits::{Budget, Exhausted, Resource},
};

use super::{
    Kind, NESTING, Node, NodeId,
    lex::{Lexer, Raw, Token, Word},
    offset,
};

/// What the grammar wants next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    FirstValue,
    FirstKey,
    Key,
    Colon,
    Next,
}

pub(super) struct Builder {
    /// Open containers, outermost first, with the last child of each.
    pub(super) open: Vec<(NodeId, Option<NodeId>)>,
    /// A key whose value has not come yet.
    pub(super) key: Option<Raw>,
}

impl Builder {
    pub(super) fn read(
        &mut self,
        lexer: &mut Lexer<'_>,
        nodes: &mut Vec<Node>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let mut expect = Expect::Value;
        loop {
            lexer.skip_white();
            let at = lexer.position();
            let token = lexer.next()?;
            expect = match (expect, token) {
                (Expect::FirstKey | Expect::Key, Token::Text(key)) => {
                    self.key = Some(key);
                    Expect::Colon
                }
                (Expect::Colon, Token::Colon) => Expect::Value,
                (Expect::FirstKey, Token::Close(b'}'))
                | (Expect::FirstValue, Token::Close(b']'))
                | (Expect::Next, Token::Close(_)) => {
                    self.close(lexer, token, nodes)?;
                    Expect::Next
                }
                (Expect::Next, Token::Comma) => match self.innermost(nodes) {
                    Some(Kind::Object) => Expect::Key,
                    _ => Expect::Value,
                },
                (Expect::Value | Expect::FirstValue, Token::Open(bracket)) => {
                    if self.open.len() >= NESTING {
                        return Err(Exhausted(Resource::Depth).into());
                    }
                    let (kind, inside) = match bracket {
                        b'{' => (Kind::Object, Expect::FirstKey),
                        _ => (Kind::Array, Expect::FirstValue),
                    };
                    let id = self.add(nodes, kind, at, at, budget)?;
                    self.open.push((id, None));
                    inside
                }
                (Expect::Value | Expect::FirstValue, Token::Text(raw)) => {
                    self.add(nodes, Kind::Text, raw.start, raw.end, budget)?;
                    if let Some(node) = nodes.last_mut() {
                        node.plain = raw.plain;
                    }
                    Expect::Next
                }
                (Expect::Value | Expect::FirstValue, Token::Number(start, end)) => {
                    self.add(nodes, Kind::Number, start, end, budget)?;
                    Expect::Next
                }
                (Expect::Value | Expect::FirstValue, Token::Word(word, start, end)) => {
                    let kind = match word {
                        Word::Null => Kind::Null,
                        Word::True => Kind::Bool(true),
                        Word::False => Kind::Bool(false),
                    };
                    self.add(nodes, kind, start, end, budget)?;
                    Expect::Next
                }
                (_, Token::End) => return Err(lexer.stop("the JSON ends in the middle")),
                (expect, _) => return Err(unexpected(expect, at)),
            };
            if self.open.is_empty() {
                // A string that is the whole document may be cut as any other.
                return if lexer.is_cut { Err(lexer.stop("the JSON ends in the middle")) } else { Ok(()) };
            }
        }
    }

    fn innermost(&self, nodes: &[Node]) -> Option<Kind> {
        let (id, _) = self.open.last()?;
        nodes.get(id.index()).map(|node| node.kind)
    }

    fn close(&mut self, lexer: &Lexer<'_>, token: Token, nodes: &mut [Node]) -> Result<(), Stop> {
        let fits = matches!(
            (self.innermost(nodes), token),
            (Some(Kind::Object), Token::Close(b'}')) | (Some(Kind::Array), Token::Close(b']'))
        );
        if !fits {
            return Err(lexer.stop("a bracket of the other kind was expected"));
        }
        if let Some((id, _)) = self.open.pop()
            && let Some(node) = nodes.get_mut(id.index())
        {
            node.end = lexer.position();
        }
        Ok(())
    }

    /// One value, paid for before it is kept.
    pub(super) fn add(
        &mut self,
        nodes: &mut Vec<Node>,
        kind: Kind,
        start: usize,
        end: usize,
        budget: &mut Budget,
    ) -> Result<NodeId, Stop> {
        budget.spend(Resource::Objects, 1)?;
        let id = NodeId(u32::try_from(nodes.len()).map_err(|_| Exhausted(Resource::Objects))?);
        let mut index = 0;
        let mut parent = None;
        if let Some((container, last)) = self.open.last_mut() {
            parent = Some(*container);
            match last.and_then(|last| nodes.get_mut(last.index())) {
                Some(sibling) => {
                    sibling.next = Some(id);
                    index = sibling.index.saturating_add(1);
                }
                None => {
                    if let Some(node) = nodes.get_mut(container.index()) {
                        node.first = Some(id);
                    }
                }
            }
            *last = Some(id);
        }
        nodes.push(Node {
            kind,
            start,
            end,
            plain: true,
            key: self.key.take(),
            parent,
            index,
            first: None,
            next: None,
        });
        Ok(id)
    }
}

fn unexpected(expect: Expect, at: usize) -> Stop {
    let what = match expect {
        Expect::Value | Expect::FirstValue => "a JSON value was expected",
        Expect::FirstKey | Expect::Key => "a key in quotes was expected",
        Expect::Colon => "a colon was expected",
        Expect::Next => "a comma or a closing bracket was expected",
    };
    Stop::malformed(what, offset(at))
}
