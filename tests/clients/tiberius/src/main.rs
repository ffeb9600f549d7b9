// The list of checks through tiberius: one JSON line each. See test_clients.py for the list and the expected values.
use futures_util::TryStreamExt;
use serde_json::{json, Value};
use std::{env, time::Duration};
use tiberius::{
    error::Error, AuthMethod, Client, ColumnData, Config, EncryptionLevel, FromSql, Query, Row, ToSql,
};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

type Link = Client<Compat<TcpStream>>;
type Outcome = Result<Value, Box<dyn std::error::Error>>;

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} must be set"))
}

fn query(name: &str) -> String {
    let all: Value = serde_json::from_str(&variable("CLIENT_QUERIES")).unwrap();
    all[name].as_str().unwrap().to_owned()
}

async fn open(level: EncryptionLevel, password: &str) -> Result<Link, Error> {
    let mut config = Config::new();
    config.host(variable("CLIENT_HOST"));
    config.port(variable("CLIENT_PORT").parse().unwrap());
    config.database("master");
    config.authentication(AuthMethod::sql_server("sa", password));
    config.encryption(level);
    config.trust_cert();
    let stream = TcpStream::connect(config.get_addr()).await?;
    stream.set_nodelay(true)?;
    Client::connect(config, stream.compat_write()).await
}

async fn ready() -> Result<Link, Error> {
    open(EncryptionLevel::Required, &variable("CLIENT_PASSWORD")).await
}

fn plain(data: ColumnData<'static>) -> Value {
    let text = match &data {
        ColumnData::U8(v) => v.map(|v| v.to_string()),
        ColumnData::I16(v) => v.map(|v| v.to_string()),
        ColumnData::I32(v) => v.map(|v| v.to_string()),
        ColumnData::I64(v) => v.map(|v| v.to_string()),
        ColumnData::F32(v) => v.map(|v| v.to_string()),
        ColumnData::F64(v) => v.map(|v| v.to_string()),
        ColumnData::Bit(v) => v.map(|v| u8::from(v).to_string()),
        ColumnData::String(v) => v.as_ref().map(|v| v.to_string()),
        ColumnData::Guid(v) => v.map(|v| v.to_string()),
        ColumnData::Binary(v) => v.as_ref().map(|v| v.iter().map(|b| format!("{b:02x}")).collect()),
        ColumnData::Numeric(v) => v.map(|v| {
            let (whole, scale) = (v.value().unsigned_abs(), u32::from(v.scale())); // its Display shows -1.5 as -1.-5
            let unit = 10u128.pow(scale);
            let sign = if v.value() < 0 { "-" } else { "" };
            format!("{sign}{}.{:0width$}", whole / unit, whole % unit, width = scale as usize)
        }),
        ColumnData::Date(_) => chrono::NaiveDate::from_sql(&data).unwrap().map(|v| v.to_string()),
        _ => chrono::NaiveDateTime::from_sql(&data).unwrap().map(|v| v.format("%Y-%m-%dT%H:%M:%S%.3f").to_string()),
    };
    text.map_or(Value::Null, Value::String)
}

fn values(row: Row) -> Value {
    Value::Array(row.into_iter().map(plain).collect())
}

/// Every result set of a batch.
async fn ask(link: &mut Link, text: &str) -> Result<Vec<Vec<Value>>, Error> {
    let sets = link.simple_query(text).await?.into_results().await?;
    Ok(sets.into_iter().map(|rows| rows.into_iter().map(values).collect()).collect())
}

async fn first(link: &mut Link, text: &str) -> Result<Value, Error> {
    Ok(ask(link, text).await?[0][0].clone())
}

fn number(problem: Option<Error>) -> Value {
    match problem {
        Some(Error::Server(token)) => json!([token.code(), token.message()]),
        other => json!(format!("not an error of the server: {other:?}")),
    }
}

async fn connect(level: EncryptionLevel) -> Outcome {
    let mut link = open(level, &variable("CLIENT_PASSWORD")).await?;
    let text = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";
    Ok(first(&mut link, text).await?[0].clone())
}

async fn parameters() -> Outcome {
    let guid: tiberius::Uuid = "6F9619FF-8B86-D011-B42D-00C04FC964FF".parse()?;
    let at: chrono::NaiveDateTime = "2026-01-02T03:04:05.678".parse()?;
    let (long, nothing) = ("x".repeat(9000), Option::<&str>::None);
    let given: [&dyn ToSql; 9] =
        [&9007199254740991i64, &true, &2.5f64, &"Grüße 漢字 😀", &long, &[1u8, 2, 255].as_slice(), &nothing, &guid, &at];
    let mut link = ready().await?;
    let stream = link.query("SELECT @P1, @P2, @P3, @P4, @P5, @P6, @P7, @P8, @P9", &given).await?;
    Ok(stream.into_row().await?.map_or(Value::Null, values))
}

async fn transaction() -> Outcome {
    let name = "OLTP.dbo.clients_tiberius";
    let count = format!("SELECT COUNT(*), @@TRANCOUNT FROM {name}");
    let mut link = ready().await?;
    ask(&mut link, &format!("CREATE TABLE {name} (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL)")).await?;
    let mut counts = vec![];
    for end in ["ROLLBACK", "COMMIT"] {
        ask(&mut link, "BEGIN TRANSACTION").await?; // tiberius leaves transactions to statements
        let mut insert = Query::new(format!("INSERT INTO {name} (id, word) VALUES (@P1, @P2), (2, NULL)"));
        insert.bind(1i32);
        insert.bind("漢");
        insert.execute(&mut link).await?;
        counts.push(first(&mut link, &count).await?);
        ask(&mut link, end).await?;
        counts.push(first(&mut link, &count).await?);
    }
    ask(&mut link, &format!("DROP TABLE {name}")).await?;
    Ok(json!(counts))
}

async fn rows() -> Outcome {
    let mut link = ready().await?;
    let mut stream = link.simple_query(query("Rows")).await?.into_row_stream();
    let (mut count, mut sum) = (0i64, 0i64);
    while let Some(row) = stream.try_next().await? {
        count += 1;
        sum += i64::from(row.get::<i32, _>(1).unwrap());
    }
    Ok(json!([count.to_string(), sum.to_string()]))
}

async fn error() -> Outcome {
    let mut link = ready().await?;
    let problem = number(ask(&mut link, "SELECT * FROM dbo.nowhere").await.err());
    Ok(json!([problem, first(&mut link, "SELECT 1").await?[0]]))
}

async fn abandon() -> Outcome {
    let mut link = ready().await?;
    let mut stream = link.simple_query(query("Rows")).await?.into_row_stream();
    stream.try_next().await?;
    drop(stream);
    Ok(first(&mut link, "SELECT 1").await?[0].clone())
}

async fn one(text: String) -> Outcome {
    Ok(first(&mut ready().await?, &text).await?)
}

fn show(name: &str, outcome: Outcome) {
    match outcome {
        Ok(value) => println!("{}", json!({"check": name, "value": value})),
        Err(problem) => println!("{}", json!({"check": name, "error": problem.to_string()})),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    show("connect NotSupported", connect(EncryptionLevel::NotSupported).await);
    show("connect Off", connect(EncryptionLevel::Off).await);
    show("connect On", connect(EncryptionLevel::On).await);
    show("connect Required", connect(EncryptionLevel::Required).await);
    let wrong = open(EncryptionLevel::Required, "not it").await.err();
    show("wrong password", Ok(number(wrong)));
    show("version", one("SELECT @@VERSION".into()).await.map(|row| row[0].clone()));
    show("types", one(query("Types")).await);
    show("nulls", one(query("Nulls")).await);
    show("parameters", parameters().await);
    let two = async { Ok(json!(ask(&mut ready().await?, "SELECT 1 AS a SELECT N'two' AS b, 2 AS c").await?)) };
    show("two results", two.await);
    show("error", error().await);
    show("transaction", transaction().await);
    show("dmv", one(query("Dmv")).await);
    show("rows", rows().await);
    show("abandon", abandon().await);
    // A client that cannot cancel gives up by hanging up: the session must end with it, and others work on.
    let gone = async {
        let mut link = ready().await?;
        let session = first(&mut link, "SELECT @@SPID").await?[0].clone();
        let slow = query("Slow");
        let late = tokio::time::timeout(Duration::from_millis(500), ask(&mut link, &slow)).await.is_err();
        let mut other = ready().await?; // before the hang-up: it must not get the freed session id
        drop(link);
        let text = format!("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id = {}", session.as_str().unwrap());
        for _ in 0..100 {
            if first(&mut other, &text).await?[0] == "0" {
                return Ok(json!([late, true]));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(json!([late, false]))
    };
    show("gone", gone.await);
    for (name, why) in [
        ("cancel", "tiberius sends no attention: a query is given up by dropping its connection (see gone)"),
        ("pool", "tiberius has no reset of a pooled connection"),
    ] {
        println!("{}", json!({"check": name, "not_offered": why}));
    }
}
