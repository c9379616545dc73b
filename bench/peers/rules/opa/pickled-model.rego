package agent.call

import rego.v1

default decision := {"decision": "allow"}

decision := {"decision": "deny", "reason": "potentially unsafe code"} if {
	input.tool.name == "execute_code"
	contains(input.args.code, "pickle")
	some message in input.messages
	message.role == "assistant"
	some part in message.content
	part.type == "tool-call"
	part.toolName == "http_get"
	not regex.match(`^(https?://)?trusted\.com/`, part.input.url)
}
