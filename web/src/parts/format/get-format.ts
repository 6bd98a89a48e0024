/** Creating a format takes longer than a hundred uses, so each style is created once. */
const dateFormats = new Map<string, Intl.DateTimeFormat>();
const numberFormats = new Map<string, Intl.NumberFormat>();

export function getDateFormat(style: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return getFormat(dateFormats, style, () => new Intl.DateTimeFormat("en", style));
}

export function getNumberFormat(style: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  return getFormat(numberFormats, style, () => new Intl.NumberFormat("en", style));
}

function getFormat<Format>(formats: Map<string, Format>, style: object, create: () => Format): Format {
  const name = JSON.stringify(style);
  const known = formats.get(name);
  if (known !== undefined) return known;
  const format = create();
  formats.set(name, format);
  return format;
}
