//! Vectors in a file: a line of JSON, the digests, the numbers.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::rag::error::KnowledgeError;
use crate::rag::vectors::matrix::Matrix;
use hooks_agent_core::model::Embedder;

const FORMAT: &str = "hooks vectors 1";

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    embedder: String,
    dimension: usize,
    count: usize,
}

/// Reads the vectors of an embedder. There are none if there is no file.
pub(super) fn load(path: &Path, embedder: &dyn Embedder) -> Result<Matrix, KnowledgeError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Matrix::new(embedder.dimension()));
        }
        Err(error) => return Err(failed(path, error)),
    };
    let size = file.metadata().map_err(|error| failed(path, error))?.len();
    let mut reader = BufReader::new(file);
    let header = header(&mut reader, size).map_err(|error| failed(path, error))?;
    if (&*header.embedder, header.dimension) != (embedder.name(), embedder.dimension()) {
        return Err(KnowledgeError::OtherEmbedder {
            place: path.display().to_string(),
            stored: header.embedder,
            stored_dimension: header.dimension,
            given: embedder.name().to_owned(),
            given_dimension: embedder.dimension(),
        });
    }
    matrix(&mut reader, &header).map_err(|error| failed(path, error))
}

/// Reads the first line, and checks that the file has what it says.
fn header(reader: &mut impl BufRead, size: u64) -> io::Result<Header> {
    let mut line = Vec::new();
    reader.take(4096).read_until(b'\n', &mut line)?;
    let header: Header = serde_json::from_slice(&line)?;
    let row = header.dimension.checked_mul(4).and_then(|bytes| bytes.checked_add(16));
    let bytes = row.and_then(|row| row.checked_mul(header.count));
    let expected = bytes.and_then(|bytes| bytes.checked_add(line.len()));
    if header.format != FORMAT || expected.map(|bytes| bytes as u64) != Some(size) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it has not the length it says"));
    }
    Ok(header)
}

fn matrix(reader: &mut impl Read, header: &Header) -> io::Result<Matrix> {
    let mut matrix = Matrix::new(header.dimension);
    matrix.digests.resize(header.count, [0; 16]);
    for digest in &mut matrix.digests {
        reader.read_exact(digest)?;
    }
    matrix.values.reserve_exact(header.count * header.dimension);
    let mut row = vec![0; header.dimension * 4];
    for _ in 0..header.count {
        reader.read_exact(&mut row)?;
        let values = row.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        matrix.values.extend(values);
    }
    Ok(matrix)
}

/// Writes a new file and puts it in the place of the old one, so that a kill leaves one of them.
pub(super) fn save(
    path: &Path,
    matrix: &Matrix,
    embedder: &dyn Embedder,
) -> Result<(), KnowledgeError> {
    let header = Header {
        format: FORMAT.to_owned(),
        embedder: embedder.name().to_owned(),
        dimension: matrix.dimension,
        count: matrix.digests.len(),
    };
    write(path, &header, matrix)
        .map_err(|error| KnowledgeError::Index { index: path.to_owned(), source: error.into() })
}

fn write(path: &Path, header: &Header, matrix: &Matrix) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = BufWriter::new(File::create(&fresh)?);
    serde_json::to_writer(&mut file, header)?;
    file.write_all(b"\n")?;
    for digest in &matrix.digests {
        file.write_all(digest)?;
    }
    for value in &matrix.values {
        file.write_all(&value.to_le_bytes())?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&fresh, path)
}

/// A file that is cut off or of something else is damaged; what cannot be read now is not.
fn failed(path: &Path, error: io::Error) -> KnowledgeError {
    let (index, is_damage) = (
        path.to_owned(),
        matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof),
    );
    let source = error.into();
    if is_damage {
        KnowledgeError::DamagedVectors { file: index, source }
    } else {
        KnowledgeError::Index { index, source }
    }
}
