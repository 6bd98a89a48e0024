/** An RFC 4180 line. Formulas are escaped, so that spreadsheets show them as text. */
export function presentCsvLine(fields: readonly string[]): string {
  return `${fields.map(presentField).join(",")}\r\n`;
}

function presentField(field: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(field);
  const safe = !isNumber && /^[=+\-@\t\r]/.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
