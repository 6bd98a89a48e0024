import { expect, test } from "vitest";
import { normalizeMailbox } from "./normalize-mailbox.ts";

test.each([
  ["ada@example.com", "ada@example.com"],
  ["ADA@Example.COM.", "ada@example.com"],
  ["ada+news+more@example.com", "ada@example.com"],
  ["+ada@example.com", "+ada@example.com"],
  ["a.d.a@example.com", "a.d.a@example.com"],
  ["a.d.a+x@googlemail.com", "ada@gmail.com"],
  ["a_d-a@pm.me", "ada@proton.me"],
  ["a.da@mac.com", "a.da@icloud.com"],
  ["ａｄａ@ｅｘａｍｐｌｅ.com", "ada@example.com"],
  ["a\u200bda@example.com", "ada@example.com"],
  ["ada@BÜCHER.example", "ada@xn--bcher-kva.example"],
  ["ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"],
])("the mailbox of %s is %s", (email, mailbox) => {
  expect(normalizeMailbox(email)).toBe(mailbox);
});
