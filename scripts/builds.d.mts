export type Build = { dir: string; script: string; stampPath: string; folders: string[]; scripts: string[] };

export const builds: { server: Build; web: Build };
export function computeStamp(build: Build): string;
export function isBuilt(build: Build): boolean;
