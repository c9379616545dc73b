package agent.call

import rego.v1

# Any write after any output of a tool.
default decision := {"decision": "allow"}

decision := {"decision": "requires-approval", "reason": "text of a tool was read"} if {
	not input.runtimeContext.tools[input.tool.name].readOnly
	some message in input.messages
	message.role == "tool"
}
