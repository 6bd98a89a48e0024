/** The build parses the guide's Markdown (`vite.config.ts`). */
declare module "*.md" {
  export const blocks: import("./api/guide-document.ts").Block[];
}
