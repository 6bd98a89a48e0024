import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { AppError } from "../../../../platform/errors/app-error.ts";

const charactersMin = 8;
const charactersMax = 256;

/** The service's name, and common password words in languages the list lacks. */
const ownWords = `sluice gateway passwort contrasena motdepasse senha administrador qwertz qwertzui qwertzuiop
  yxcvbnm azertyuiop`.split(/\s+/);

const listFile = join(import.meta.dirname, "../../../../../assets/passwords/common-passwords.txt.gz");
let commonWords: ReadonlySet<string> | null = null;

/** The 3,000 most common passwords, and the 3,000 most common of sufficient length. Loaded on first use. */
function getCommonWords(): ReadonlySet<string> {
  commonWords ??= new Set([...gunzipSync(readFileSync(listFile)).toString().trim().split("\n"), ...ownWords]);
  return commonWords;
}

/** Keyboard rows, the alphabet and digits, for detecting sequences. */
const walks = ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm"];

/** Rejects passwords that are guessed first. There are no rules about character classes: length counts. */
export function requireGoodPassword(password: string, { email, param }: { email: string; param: string }): void {
  if (password.length < charactersMin || password.length > charactersMax) {
    throw new AppError("invalid_parameter", `Use ${charactersMin} to ${charactersMax} characters.`, { param });
  }
  if (isGuessedAtOnce(password, email)) {
    const message = "This password is too common. Choose a different one, such as four random words.";
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

/** The password without surrounding digits and signs, and without repetition. */
function isCommon(text: string): boolean {
  const common = getCommonWords();
  const word = stripEnds(text);
  return [text, word, findPiece(text), findPiece(word)].some((each) => common.has(each));
}

function stripEnds(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
}

/** The repeated unit of a text, else the text itself. */
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

/** How many trailing letters may be written as digits. */
const disguisedMax = 8;

/** Candidates for leetspeak such as `p@$$w0rd1`: trailing digits and signs may also be letters. */
function listMeant(text: string): string[] {
  const end = text.search(/[\d!?.*#$@]*$/);
  const meant = text.replaceAll(/[@43105$]/g, (sign) => disguises[sign] ?? sign);
  return Array.from({ length: Math.min(text.length - end, disguisedMax) + 1 }, (_, more) => meant.slice(0, end + more));
}

/** A short unit repeated, such as `aaaaaaaa` or `abcabcabc`. */
function isRepeated(text: string): boolean {
  return /^(.{1,4})\1+.{0,3}$/u.test(text);
}

function isWalk(text: string): boolean {
  const lines = walks.flatMap((walk) => [walk + walk, [...(walk + walk)].toReversed().join("")]);
  return lines.some((line) => line.includes(text));
}
