import { AppError } from "../../../../platform/errors/app-error.ts";

/** One `@` with something on both sides; whether mail arrives there is for a mail to find out. */
const emailPattern = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/u;
const emailCharactersMax = 254;

export function requireEmail(email: string): void {
  const isClean = emailPattern.test(email) && !/\p{Cc}/u.test(email);
  if (isClean && email.length <= emailCharactersMax) return;
  throw new AppError("invalid_parameter", "This is not an e-mail address. It looks like name@example.com.", {
    param: "email",
  });
}
