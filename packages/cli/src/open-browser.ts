import { spawn } from "node:child_process";

const programs: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` would split the URL at every `&`.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Best effort: the caller also prints the URL. */
export function openBrowser(url: string): void {
  const [program, ...words] = programs[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...words, url], { detached: true, stdio: "ignore" });
  child.on("error", () => {});
  child.unref();
}
