import { AppError } from "../../../platform/errors/app-error.ts";

const charactersMin = 8;
const charactersMax = 256;

/**
 * What everybody tries first, of those with eight characters or more, in lower case and without the digits and signs
 * that people put behind a word.
 */
const commonWords = new Set(
  `password passw0rd passwort contrasena motdepasse senha qwerty qwertyui qwertyuiop qwertz qwertzui qwertzuiop azerty
  azertyuiop asdfgh asdfghjk asdfghjkl yxcvbnm zxcvbnm zxcvbn qweasdzxc qazwsx qazwsxedc 1qaz2wsx 1q2w3e4r 1q2w3e4r5t
  q1w2e3r4 zaq12wsx abc123 abcd1234 a1b2c3d4 letmein welcome welcome1 iloveyou iloveu sunshine princess football
  baseball basketball superman batman spiderman starwars pokemon dragon monkey shadow master michael jennifer jordan
  jessica charlie michelle daniel andrew ashley nicole hannah thomas robert jonathan computer internet samsung google
  facebook whatever trustno1 killer hunter access mustang corvette ferrari mercedes porsche harley liverpool chelsea
  arsenal barcelona realmadrid juventus manchester metallica nirvana slipknot blink182 cheese chocolate butterfly
  flower summer winter spring autumn january february october november december monday friday freedom forever loveme
  lovely babygirl angel angels blessed jesus jesuschrist secret administrator admin adminadmin administrador root
  default changeme changeit test testtest testing tester guest user demo sample example login passphrase password
  mypassword newpassword pa55word p@ssw0rd p@ssword letmein1 hello hellohello helloworld goodbye nothing anything
  something everyone sluice gateway`.split(/\s+/),
);

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
  const word = plain.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const [name = ""] = email.toLowerCase().split("@");
  return (
    commonWords.has(plain) ||
    commonWords.has(word) ||
    plain === email.toLowerCase() ||
    (name.length >= 4 && word === name) ||
    isRepeated(plain) ||
    isWalk(plain)
  );
}

/** One short piece again and again, such as `aaaaaaaa` or `abcabcabc`. */
function isRepeated(text: string): boolean {
  return /^(.{1,4})\1+.{0,3}$/u.test(text);
}

function isWalk(text: string): boolean {
  const lines = walks.flatMap((walk) => [walk + walk, [...(walk + walk)].toReversed().join("")]);
  return lines.some((line) => line.includes(text));
}
