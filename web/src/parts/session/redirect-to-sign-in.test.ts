import { afterEach, expect, test, vi } from "vitest";
import { redirectToSignIn } from "./redirect-to-sign-in.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("a page redirects once, however many requests fail with 401, and again when shown again", () => {
  const assign = vi.fn<(address: string) => void>();
  const page = new EventTarget();
  vi.stubGlobal("location", { pathname: "/console/usage", search: "?by=key", assign });
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  for (let time = 0; time < 3; time += 1) redirectToSignIn();
  expect(assign.mock.calls).toEqual([["/sign-in?next=%2Fconsole%2Fusage%3Fby%3Dkey"]]);
  page.dispatchEvent(new Event("pageshow"));
  for (let time = 0; time < 3; time += 1) redirectToSignIn();
  expect(assign).toHaveBeenCalledTimes(2);
});
