export { default as MarkdownIt } from "markdown-it";
export type { MarkdownIt as Reader, Token } from "markdown-it";
