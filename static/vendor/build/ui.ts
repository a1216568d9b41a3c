export { default as React } from "react";
export { createPortal, flushSync } from "react-dom";
export { createRoot } from "react-dom/client";
export * as Flow from "@xyflow/react";
