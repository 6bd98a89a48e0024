import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { AppError } from "../../../../platform/errors/app-error.ts";

const charactersMin = 8;
const charactersMax = 256;

/** What people call this service, and the commonest words of passwords in other languages than the list's. */
const ownWords = `sluice gateway passwort contrasena motdepasse senha administrador qwertz qwertzui qwertzuiop
  yxcvbnm azertyuiop`.split(/\s+/);

const listFile = new URL("../../../../../assets/passwords/common-passwords.txt.gz", import.meta.url);
let commonWords: ReadonlySet<string> | null = null;

/** The 3 000 commonest passwords, and the 3 000 commonest of those that are long enough. Read with the first check. */
function getCommonWords(): ReadonlySet<string> {
  commonWords ??= new Set([...gunzipSync(readFileSync(listFile)).toString().trim().split("\n"), ...ownWords]);
  return commonWords;
}

/** Rows of a keyboard, and the alphabet and digits, which people walk along. */
const walks = ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm"];

/** Refuses what would be guessed at once. There are no rules about kinds of characters: length is what counts. */
export function requireGoodPassword(password: string, { email, param }: { email: string; param: string }): void {
  if (password.length < charactersMin || password.length > charactersMax) {
    throw new AppError("invalid_parameter", `A password has ${charactersMin} to ${charactersMax} characters.`, {
      param,
    });
  }
  if (isGuessedAtOnce(password, email)) {
    const message = "This password is among the first that anybody would try. Take another, such as four random words.";
    throw new AppError("invalid_parameter", message, { param });
  }
}

function isGuessedAtOnce(password: string, email: string): boolean {
  const plain = password.normalize("NFKC").toLowerCase();
  const [name = ""] = email.toLowerCase().split("@");
  return (
    plain === email.toLowerCase() ||
    (name.length >= 4 && stripEnds(plain) === name) ||
    isRepeated(plain) ||
    isWalk(plain) ||
    [plain, ...listMeant(plain)].some(isCommon)
  );
}

/** As it stands, without the digits and signs that people put around a word, or several times in a row. */
function isCommon(text: string): boolean {
  const common = getCommonWords();
  const word = stripEnds(text);
  return [text, word, findPiece(text), findPiece(word)].some((each) => common.has(each));
}

function stripEnds(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
}

/** What a text says again and again; the text itself where it says everything once. */
function findPiece(text: string): string {
  return /^(.+?)\1+$/u.exec(text)?.[1] ?? text;
}

const disguises: Readonly<Record<string, string>> = {
  "@": "a",
  "4": "a",
  "3": "e",
  "1": "i",
  "0": "o",
  $: "s",
  "5": "s",
};

/** How many letters at the end of a word may be written as digits. */
const disguisedMax = 8;

/** The words that may be meant by `p@$$w0rd1`: of the digits and signs at the end, the first may be letters too. */
function listMeant(text: string): string[] {
  const end = text.search(/[\d!?.*#$@]*$/);
  const meant = text.replaceAll(/[@43105$]/g, (sign) => disguises[sign] ?? sign);
  return Array.from({ length: Math.min(text.length - end, disguisedMax) + 1 }, (_, more) => meant.slice(0, end + more));
}

/** One short piece again and again, such as `aaaaaaaa` or `abcabcabc`. */
function isRepeated(text: string): boolean {
  return /^(.{1,4})\1+.{0,3}$/u.test(text);
}

function isWalk(text: string): boolean {
  const lines = walks.flatMap((walk) => [walk + walk, [...(walk + walk)].toReversed().join("")]);
  return lines.some((line) => line.includes(text));
}
