export { fuzzyMatch } from "@nozbe/microfuzz";
