/** Checks of the conformance suite that do not concern this server: what they say then, and why. */
export interface Exception {
  readonly says: RegExp;
  readonly why: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    says: /unknown tool$|Tool '\w+' not found|does not list the diagnostic tool|x-mcp-header annotations/,
    why: 'the suite calls tools of its own example server (test_simple_text and the like), which no other server has',
  },
  {
    says: /unknown method: "(?:prompts|resources|completion|logging)\/[\w/]+"$/,
    why: 'prompts, resources, completion and logging are capabilities that the server does not declare',
  },
  {
    says: /^Expected InputRequiredResult with inputRequests and requestState$|^Prerequisite failed: could not get initial InputRequiredResult/,
    why: 'the same example server: these go on with what its tools have asked for',
  },
  {
    says: /wrong arguments: {2}must have required property 'org'/,
    why: 'the suite calls the first tool without arguments; it gets as far as the arguments, so the header was read',
  },
];
