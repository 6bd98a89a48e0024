import { spawn } from "node:child_process";

const programs: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` would take the address apart at every `&`.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Tries to; the address was shown as well, so that nothing is lost where there is no browser. */
export function openBrowser(url: string): void {
  const [program, ...words] = programs[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...words, url], { detached: true, stdio: "ignore" });
  child.on("error", () => {});
  child.unref();
}
