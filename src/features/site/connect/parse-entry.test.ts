import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presentCallback } from "./connect-request.ts";
import { parseEntry } from "./parse-entry.ts";

const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const good = {
  client: "my-tool",
  response_type: "api_key",
  redirect_uri: "http://127.0.0.1:53111/callback",
  state: "af0ifjsldkj",
};

function writeQuery(changes: Record<string, string | null>): string {
  const values = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== null);
  return values.map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`).join("&");
}

function listRefused(query: string): string[] {
  const outcome = parseEntry(query);
  return outcome.kind === "accepted" ? [] : outcome.problems.map(({ param }) => param);
}

test("a valid request is accepted, and its redirect URI is rebuilt", () => {
  expect(parseEntry(writeQuery({}))).toEqual({
    kind: "accepted",
    client: "my-tool",
    way: {
      kind: "browser",
      redirectUri: "http://127.0.0.1:53111/callback",
      clientState: "af0ifjsldkj",
      codeChallenge: null,
    },
  });
});

describe("client", () => {
  test.each(["ab", "A.b_c-9", "x".repeat(64)])("may be %s", (client) => {
    expect(listRefused(writeQuery({ client }))).toEqual([]);
  });

  test.each([
    "",
    "a",
    "x".repeat(65),
    "a b",
    "a/b",
    "<b>",
    "BA:x",
    "tool\n",
    "tool\u0000",
    "tооl", // two Cyrillic letters
    "٣٣٣",
    "ｔｏｏｌ",
    "a%20b",
  ])("may not be %j", (client) => {
    expect(listRefused(writeQuery({ client }))).toEqual(["client"]);
  });
});

describe("redirect_uri", () => {
  test.each([
    "http://127.0.0.1:1/callback",
    "http://127.0.0.1:80/callback",
    "http://127.0.0.1:65535/callback",
    "http://localhost:53111/callback",
  ])("may be %s, and is returned unchanged", (redirect_uri) => {
    expect(parseEntry(writeQuery({ redirect_uri }))).toMatchObject({ way: { redirectUri: redirect_uri } });
  });

  test.each([
    "",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:/callback",
    "http://127.0.0.1:0/callback",
    "http://127.0.0.1:080/callback",
    "http://127.0.0.1:65536/callback",
    "http://127.0.0.1:99999/callback",
    "http://127.0.0.1:5311１/callback",
    "http://127.0.0.1:５３/callback",
    "http://127.0.0.1:+80/callback",
    "http://127.0.0.1:8e1/callback",
    "https://127.0.0.1:53111/callback",
    "HTTP://127.0.0.1:53111/callback",
    "ftp://127.0.0.1:53111/callback",
    "javascript:alert(1)//127.0.0.1:1/callback",
    "//127.0.0.1:53111/callback",
    "http:127.0.0.1:53111/callback",
    "http:/127.0.0.1:53111/callback",
    "http:\\\\127.0.0.1:53111\\callback",
    "http://127.0.0.1:53111/callback/",
    "http://127.0.0.1:53111//callback",
    "http://127.0.0.1:53111/a/../callback",
    "http://127.0.0.1:53111/%63allback",
    "http://127.0.0.1:53111/callback?",
    "http://127.0.0.1:53111/callback?next=//evil.example",
    "http://127.0.0.1:53111/callback#",
    "http://127.0.0.1:53111/callback#api_key",
    "http://127.0.0.1:53111/Callback",
    "http://127.0.0.1:80@evil.example/callback",
    "http://127.0.0.1:80@evil.example:80/callback",
    "http://user@127.0.0.1:53111/callback",
    "http://user:word@localhost:53111/callback",
    "http://127.0.0.1.evil.example:1/callback",
    "http://127.0.0.1%2eevil.example:1/callback",
    "http://evil.example#127.0.0.1:1/callback",
    "http://127.0.0.1:1\\@evil.example:1/callback",
    "http://localhost.evil.example:1/callback",
    "http://localhost.:53111/callback",
    "http://LOCALHOST:53111/callback",
    "http://[::1]:53111/callback",
    "http://127.0.0.2:53111/callback",
    "http://0.0.0.0:53111/callback",
    "http://0x7f.1:53111/callback",
    "http://2130706433:53111/callback",
    "http://127。0。0。1:53111/callback",
    "http://127.0.0.1:53111/callback\r\nSet-Cookie: a=b",
    "http://127.0.0.1:53111/callback\n",
    " http://127.0.0.1:53111/callback",
    "http://127.0.0.1:53111/callback\u0000",
    `http://127.0.0.1:53111/${"x".repeat(4000)}`,
    "http%3A%2F%2F127.0.0.1%3A53111%2Fcallback",
  ])("may not be %j", (redirect_uri) => {
    expect(listRefused(writeQuery({ redirect_uri }))).toEqual(["redirect_uri"]);
  });
});

describe("response_type", () => {
  test.each(["", "code", "token", "API_KEY", "api_key ", "api_key,code"])("may not be %j", (response_type) => {
    expect(listRefused(writeQuery({ response_type }))).toEqual(["response_type"]);
  });
});

describe("state", () => {
  test.each(["x", "x".repeat(1024), "\u0000\r\n", "Ω".repeat(1024), "😀".repeat(1024)])("may be %j", (state) => {
    expect(listRefused(writeQuery({ state }))).toEqual([]);
  });

  test.each(["", "x".repeat(1025), "😀".repeat(1025)])("may not be %j", (state) => {
    expect(listRefused(writeQuery({ state }))).toEqual(["state"]);
  });

  test("is returned as sent, whatever the encoding", () => {
    const ways = [
      { encode: encodeURIComponent, decode: decodeURIComponent },
      {
        encode: (text: string) => new URLSearchParams({ state: text }).toString().slice("state=".length),
        decode: (text: string) => new URLSearchParams(`state=${text}`).get("state"),
      },
    ];
    const anyState = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(anyState, fc.constantFrom(...ways), (state, { encode, decode }) => {
        const outcome = parseEntry(`${writeQuery({ state: null })}&state=${encode(state)}`);
        if (outcome.kind !== "accepted") throw new Error("It was refused.");
        const callback = presentCallback(outcome.way, { error: "access_denied" });
        expect(decode(callback.split("&state=")[1] ?? "")).toBe(state);
        expect(new URL(callback).href).toBe(callback);
      }),
    );
  });

  test.each(["a+b", "a/b==", "a:b@c?d", "a'b(c)*!"])("an unencoded %s is returned too", (state) => {
    const outcome = parseEntry(`${writeQuery({ state: null })}&state=${state}`);
    const clientState = outcome.kind === "accepted" ? outcome.way.clientState : "";
    expect(decodeURIComponent(clientState)).toBe(state);
    expect(clientState).toMatch(/^[A-Za-z0-9._~%+-]+$/);
  });
});

describe("a challenge", () => {
  const method = { code_challenge_method: "S256" };

  test("with its method requests a code", () => {
    const outcome = parseEntry(writeQuery({ code_challenge: challenge, ...method }));
    expect(outcome).toMatchObject({ kind: "accepted", way: { codeChallenge: challenge } });
  });

  test.each<[Record<string, string>, string]>([
    [{ code_challenge: challenge }, "code_challenge_method"],
    [{ code_challenge: challenge, code_challenge_method: "plain" }, "code_challenge_method"],
    [{ code_challenge: challenge, code_challenge_method: "s256" }, "code_challenge_method"],
    [method, "code_challenge"],
    [{ code_challenge: "", ...method }, "code_challenge"],
    [{ code_challenge: challenge.slice(1), ...method }, "code_challenge"],
    [{ code_challenge: `${challenge}x`, ...method }, "code_challenge"],
    [{ code_challenge: `${challenge.slice(1)}=`, ...method }, "code_challenge"],
    [{ code_challenge: `${challenge.slice(1)}+`, ...method }, "code_challenge"],
  ])("%j is rejected for its %s", (changes, param) => {
    expect(listRefused(writeQuery(changes))).toEqual([param]);
  });
});

describe("the query as a whole", () => {
  test("all problems are listed, without quoting the input", () => {
    const outcome = parseEntry("client=%3Cscript%3E&redirect_uri=http://evil.example&state=");
    expect(outcome).toMatchObject({
      problems: [
        { param: "client", message: expect.stringContaining("2 to 64") },
        { param: "response_type", message: "is missing. It must be api_key." },
        { param: "redirect_uri", message: expect.stringContaining("http://127.0.0.1:<port>/callback") },
        { param: "state", message: "must have 1 to 1024 characters." },
      ],
    });
    expect(JSON.stringify(outcome)).not.toMatch(/script|evil/);
  });

  test.each(Object.keys(good))("%s is required", (param) => {
    expect(listRefused(writeQuery({ [param]: null }))).toEqual([param]);
  });

  test.each(Object.entries(good))("%s may not be repeated, not even with the same value", (param, value) => {
    for (const name of [param, param.replace("e", "%65").replace("a", "%61")]) {
      expect(listRefused(`${writeQuery({})}&${name}=${encodeURIComponent(value)}`)).toEqual([param]);
    }
  });

  test.each(["%", "%2", "%zz", "%ff", "%c3%28", "%ed%a0%80", "caf\u00e9", "\u0001"])(
    "%j is not valid text",
    (state) => {
      expect(listRefused(`${writeQuery({ state: null })}&state=${state}`)).toEqual(["state"]);
    },
  );

  test("unknown parameters are ignored, however often they are sent", () => {
    expect(listRefused(`${writeQuery({})}&utm=a&utm=b&state[]=x&client%5B%5D=y&%=z&__proto__=q&`)).toEqual([]);
  });
});
