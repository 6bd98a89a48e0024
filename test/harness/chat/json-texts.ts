import fc from "fast-check";

/** JSON as text, so that it may also be what no library writes. */
export type Text = fc.Arbitrary<string>;

export function oneOf(...texts: string[]): Text {
  return fc.constantFrom(...texts);
}

export const text = oneOf(
  ...[
    '""',
    '"a"',
    '"漢字"',
    '"😀x"',
    '"\\n\\"\\\\"',
    '"\\u00e9\\ud83d\\ude00"',
    '"\\ud800"',
    `"${"long ".repeat(1000)}"`,
  ],
  ...[`"${"x\\n".repeat(2000)}"`, '"{[,:]}"', '"\\u0000"'],
);
const odd = oneOf("null", "1", "true", "[]", "{}", '"', '"\\x"', '"\u0001"', '"\\u12"', "1e400", "01", "-", "nul", "");
const space = oneOf("", "", "", " ", "\n\t ");

function often(usual: Text, unusual: Text): Text {
  return fc.oneof({ weight: 150, arbitrary: usual }, { weight: 1, arbitrary: unusual });
}

/** An object's text: its usual members, rarely without one of them, with one of them twice or with another. */
export function object(members: Readonly<Record<string, Text>>, optional: Readonly<Record<string, Text>> = {}): Text {
  const usual = Object.entries(members).map(([name, value]) => member(name, value));
  const more = Object.entries(optional).map(([name, value]) =>
    fc.oneof({ weight: 1, arbitrary: member(name, value) }, { weight: 4, arbitrary: fc.constant("") }),
  );
  const all = [...usual, ...more];
  const extra = fc.oneof(
    { weight: 150, arbitrary: fc.constant("") },
    {
      weight: 1,
      arbitrary: oneOf('"extra":1', '"__proto__":{}', '"cache_control":{"type":"ephemeral"}', '"prefix":true'),
    },
    ...all.map((one) => ({ weight: 1, arbitrary: one })),
  );
  return fc.tuple(fc.tuple(...all), extra, space, fc.nat({ max: 1000 })).map(([parts, added, gap, left]) => {
    const kept = parts.filter((part, index) => part !== "" && index !== left);
    return `{${gap}${[...kept, ...(added === "" ? [] : [added])].join(`${gap},`)}${gap}}`;
  });
}

function member(name: string, value: Text): Text {
  const nameText = often(
    fc.constant(JSON.stringify(name)),
    fc.constant(`"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"`),
  );
  return fc.tuple(nameText, space, often(value, odd)).map(([written, gap, of]) => `${written}${gap}:${gap}${of}`);
}

export function list(item: Text, maxLength = 3): Text {
  return fc
    .tuple(fc.array(item, { maxLength, minLength: 1 }), space)
    .map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}]`);
}

export const number = oneOf("0", "-1.50", "1e2", "1E-7", "12345678901234567890", "0.1");
export const { schema } = fc.letrec<{ schema: string }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    number,
    text,
    oneOf("null", "true", "false", '{"a":1,"a":2}', '{"a":{"url":"x"},"\\u0062":[]}', "[".repeat(70) + "]".repeat(70)),
    object({ type: text }, { properties: tie("schema"), required: list(text) }),
  ),
}));
