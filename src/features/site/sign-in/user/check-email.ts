import { AppError } from "../../../../platform/errors/app-error.ts";

/** One `@` with text on both sides; only a mail can prove more. */
const emailPattern = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/u;
const emailCharactersMax = 254;

export function requireEmail(email: string): void {
  const isClean = emailPattern.test(email) && !/\p{Cc}/u.test(email);
  if (isClean && email.length <= emailCharactersMax) return;
  throw new AppError("invalid_parameter", "Enter an e-mail address such as name@example.com.", { param: "email" });
}
