//! A Bolt connection, as far as tests need it: begin, run, commit, rollback.

use super::packstream::{Reader, encode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const FAILURE: u8 = 0x7F;

/// What a statement gave, or the server's code and words.
pub(crate) type Answer = Result<(Value, Vec<Value>), (String, String)>;

pub(crate) struct Bolt(TcpStream);

impl Bolt {
    pub(crate) async fn connect(port: u16) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        // Bolt 5.4 down to 5.0, and nothing else.
        stream.write_all(&[0x60, 0x60, 0xB0, 0x17, 0, 4, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).await?;
        let mut version = [0; 4];
        stream.read_exact(&mut version).await?;
        assert_eq!(version[3], 5, "the engine speaks Bolt 5");
        let mut bolt = Self(stream);
        let hello = json!({"user_agent": "plumbline-tests/1", "bolt_agent": {"product": "plumbline-tests/1"}});
        assert_eq!(bolt.ask(0x01, &[hello]).await.0, SUCCESS);
        assert_eq!(bolt.ask(0x6A, &[json!({"scheme": "none"})]).await.0, SUCCESS);
        Ok(bolt)
    }

    pub(crate) async fn begin(&mut self) {
        assert_eq!(self.ask(0x11, &[json!({})]).await.0, SUCCESS);
    }

    pub(crate) async fn commit(&mut self) -> Result<(), (String, String)> {
        refused(&self.ask(0x12, &[]).await)
    }

    pub(crate) async fn rollback(&mut self) {
        self.ask(0x13, &[]).await;
    }

    pub(crate) async fn run(&mut self, statement: &str, parameters: &Value) -> Answer {
        let begun = self.ask(0x10, &[json!(statement), parameters.clone(), json!({})]).await;
        refused(&begun)?;
        let fields = begun.1.first().map(|meta| meta["fields"].clone()).unwrap_or_default();
        self.send(0x3F, &[json!({"n": -1})]).await;
        let mut rows = Vec::new();
        loop {
            let message = self.receive().await;
            match message.0 {
                RECORD => rows.extend(message.1),
                _ => return refused(&message).map(|()| (fields, rows)),
            }
        }
    }

    async fn ask(&mut self, tag: u8, fields: &[Value]) -> (u8, Vec<Value>) {
        self.send(tag, fields).await;
        self.receive().await
    }

    async fn send(&mut self, tag: u8, fields: &[Value]) {
        let mut body = vec![0xB0 | u8::try_from(fields.len()).unwrap(), tag];
        fields.iter().for_each(|field| encode(field, &mut body));
        let mut out = Vec::new();
        for chunk in body.chunks(0xFFFF) {
            out.extend(u16::try_from(chunk.len()).unwrap().to_be_bytes());
            out.extend(chunk);
        }
        out.extend([0, 0]);
        self.0.write_all(&out).await.unwrap();
    }

    async fn receive(&mut self) -> (u8, Vec<Value>) {
        let mut body = Vec::new();
        loop {
            let length = usize::from(self.0.read_u16().await.unwrap());
            if length == 0 && !body.is_empty() {
                return Reader(&body).structure();
            }
            let at = body.len();
            body.resize(at + length, 0);
            self.0.read_exact(&mut body[at..]).await.unwrap();
        }
    }
}

fn refused((tag, fields): &(u8, Vec<Value>)) -> Result<(), (String, String)> {
    let word = |key: &str| fields.first().and_then(|meta| meta[key].as_str()).unwrap_or_default().to_owned();
    if *tag == FAILURE { Err((word("code"), word("message"))) } else { Ok(()) }
}
